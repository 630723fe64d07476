import { contractSuite } from '../../contract-suite.ts'
import { kyselyMariadbKind } from '../../databases/kysely-mariadb.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'

onServer(SERVERS.mariadb, (url) => contractSuite(kyselyMariadbKind(url)))
