import { mariadbKind } from '../databases/mariadb.ts'
import { postgresKind } from '../databases/postgres.ts'
import { onServer, SERVERS } from '../databases/servers.ts'
import { faultyMariadb, faultyPostgres } from '../planted/sql-assembly.ts'
import { crashEverywhere } from './crash-points.ts'

onServer(SERVERS.postgres, (url) => crashEverywhere((fault) => postgresKind(url, faultyPostgres(fault))))
onServer(SERVERS.mariadb, (url) => crashEverywhere((fault) => mariadbKind(url, faultyMariadb(fault))))
