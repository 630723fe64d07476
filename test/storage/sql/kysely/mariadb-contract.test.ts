import { kyselyMariadbKind } from '../../databases/kysely-mariadb.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'
import { contractSuite } from './contract-suite.ts'

onServer(SERVERS.mariadb, (url) => contractSuite(kyselyMariadbKind(url)))
