import { memoryKind } from '../databases/memory.ts'
import { sqliteFileKind } from '../databases/sqlite.ts'
import { catchAll } from './catch-all.ts'
import { faultySqlite } from './sql-assembly.ts'

catchAll('memory', () => memoryKind())
catchAll('SQLite file', (fault) => sqliteFileKind(fault && faultySqlite(fault)))
