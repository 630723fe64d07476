import { contractSuite } from '../../contract-suite.ts'
import { kyselyPostgresKind } from '../../databases/kysely-postgres.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'

onServer(SERVERS.postgres, (url) => contractSuite(kyselyPostgresKind(url)))
