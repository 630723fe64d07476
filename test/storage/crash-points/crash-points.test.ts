import { mariadbKind } from '../databases/mariadb.ts'
import { pgliteKind } from '../databases/pglite.ts'
import { postgresKind } from '../databases/postgres.ts'
import { onServer, SERVERS } from '../databases/servers.ts'
import { sqliteFileKind, sqliteMemoryKind } from '../databases/sqlite.ts'
import { faultyMariadb, faultyPostgres, faultySqlite } from '../planted/sql-assembly.ts'
import { crashEverywhere } from './crash-points.ts'

crashEverywhere((fault) => sqliteFileKind(faultySqlite(fault)))
crashEverywhere((fault) => sqliteMemoryKind(faultySqlite(fault)))
crashEverywhere((fault) => pgliteKind(faultyPostgres(fault)))
onServer(SERVERS.postgres, (url) => crashEverywhere((fault) => postgresKind(url, faultyPostgres(fault))))
onServer(SERVERS.mariadb, (url) => crashEverywhere((fault) => mariadbKind(url, faultyMariadb(fault))))
