import { sqliteKind } from '../../databases.ts'
import { faultySqlite } from '../planted/sql-assembly.ts'
import { storageKind } from '../storage-kind.ts'
import { crashEverywhere } from './crash-points.ts'

crashEverywhere((fault) => storageKind(sqliteKind(faultySqlite(fault))))
