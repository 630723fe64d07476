import { withTransactionSuite } from '../../../core/with-transaction/with-transaction-suite.ts'
import { kyselyMariadbKind } from '../../databases/kysely-mariadb.ts'
import { kyselyPostgresKind } from '../../databases/kysely-postgres.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'

// What needs a second connection while the host's transaction is open; the rest is in the contract.
onServer(SERVERS.postgres, (url) => withTransactionSuite(kyselyPostgresKind(url)))
onServer(SERVERS.mariadb, (url) => withTransactionSuite(kyselyMariadbKind(url)))
