import { postgresKind } from '../databases/postgres.ts'
import { onServer, SERVERS } from '../databases/servers.ts'
import { catchAll } from './catch-all.ts'
import { faultyPostgres } from './sql-assembly.ts'

onServer(SERVERS.postgres, (url) =>
  catchAll('PostgreSQL', (fault) => postgresKind(url, fault && faultyPostgres(fault))),
)
