import { describe } from 'vitest'
import { mariadbKind } from '../../storage/databases/mariadb.ts'
import { postgresKind } from '../../storage/databases/postgres.ts'
import { onServer, SERVERS } from '../../storage/databases/servers.ts'
import { withTransactionSuite } from './with-transaction-suite.ts'

describe('withTransaction', () => {
  onServer(SERVERS.postgres, (url) => withTransactionSuite(postgresKind(url)))
  onServer(SERVERS.mariadb, (url) => withTransactionSuite(mariadbKind(url)))
})
