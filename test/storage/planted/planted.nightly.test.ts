import { mariadbKind, onServer, pgliteKind, postgresKind, SERVERS, sqliteInMemoryKind } from '../../databases.ts'
import { storageKind } from '../storage-kind.ts'
import { catchAll } from './catch-all.ts'
import { faultyMariadb, faultyPostgres, faultySqlite } from './sql-assembly.ts'

catchAll('SQLite memory', (fault) => storageKind(sqliteInMemoryKind(fault && faultySqlite(fault))))
catchAll('PGlite', (fault) => storageKind(pgliteKind(fault && faultyPostgres(fault))))
onServer(SERVERS.postgres, () =>
  catchAll('PostgreSQL', (fault) => storageKind(postgresKind(fault && faultyPostgres(fault)))),
)
onServer(SERVERS.mariadb, () => catchAll('MariaDB', (fault) => storageKind(mariadbKind(fault && faultyMariadb(fault)))))
