import { contractSuite } from './contract-suite.ts'
import { mariadbKind } from './databases/mariadb.ts'
import { onServer, SERVERS } from './databases/servers.ts'

onServer(SERVERS.mariadb, (url) => contractSuite(mariadbKind(url)))
