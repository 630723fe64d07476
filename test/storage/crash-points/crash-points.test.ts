import { sqliteFileKind } from '../databases/sqlite.ts'
import { faultySqlite } from '../planted/sql-assembly.ts'
import { crashEverywhere } from './crash-points.ts'

crashEverywhere((fault) => sqliteFileKind(faultySqlite(fault)))
