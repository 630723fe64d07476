import { pgliteKind } from '../databases/pglite.ts'
import { sqliteMemoryKind } from '../databases/sqlite.ts'
import { faultyPostgres, faultySqlite } from '../planted/sql-assembly.ts'
import { crashEverywhere } from './crash-points.ts'

crashEverywhere((fault) => sqliteMemoryKind(faultySqlite(fault)))
crashEverywhere((fault) => pgliteKind(faultyPostgres(fault)))
