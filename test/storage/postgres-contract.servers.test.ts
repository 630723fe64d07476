import { contractSuite } from './contract-suite.ts'
import { postgresKind } from './databases/postgres.ts'
import { onServer, SERVERS } from './databases/servers.ts'

onServer(SERVERS.postgres, (url) => contractSuite(postgresKind(url)))
