import { memoryKind } from '../databases/memory.ts'
import { sqliteFileKind, sqliteMemoryKind } from '../databases/sqlite.ts'
import { catchAll } from './catch-all.ts'
import { faultySqlite } from './sql-assembly.ts'

catchAll('memory', () => memoryKind())
catchAll('SQLite file', (fault) => sqliteFileKind(fault && faultySqlite(fault)))
catchAll('SQLite memory', (fault) => sqliteMemoryKind(fault && faultySqlite(fault)))
