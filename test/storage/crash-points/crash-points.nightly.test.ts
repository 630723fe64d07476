import { pgliteKind, sqliteInMemoryKind } from '../../databases.ts'
import { faultyPostgres, faultySqlite } from '../planted/sql-assembly.ts'
import { storageKind } from '../storage-kind.ts'
import { crashEverywhere } from './crash-points.ts'

crashEverywhere((fault) => storageKind(sqliteInMemoryKind(faultySqlite(fault))))
crashEverywhere((fault) => storageKind(pgliteKind(faultyPostgres(fault))))
