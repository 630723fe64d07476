import { sqliteKind } from '../../databases.ts'
import { memoryKind, storageKind } from '../storage-kind.ts'
import { catchAll } from './catch-all.ts'
import { faultySqlite } from './sql-assembly.ts'

catchAll('memory', () => memoryKind())
catchAll('SQLite file', (fault) => storageKind(sqliteKind(fault && faultySqlite(fault))))
