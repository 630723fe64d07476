import { describe } from 'vitest'
import { mariadbKind } from '../../storage/databases/mariadb.ts'
import { postgresKind } from '../../storage/databases/postgres.ts'
import { onServer, SERVERS } from '../../storage/databases/servers.ts'
import { joinSuite } from './join-suite.ts'

describe('join', () => {
  onServer(SERVERS.postgres, (url) => joinSuite(postgresKind(url)))
  onServer(SERVERS.mariadb, (url) => joinSuite(mariadbKind(url)))
})
