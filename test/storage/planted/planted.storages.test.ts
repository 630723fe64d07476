import { sqliteMemoryKind } from '../databases/sqlite.ts'
import { catchAll } from './catch-all.ts'
import { faultySqlite } from './sql-assembly.ts'

catchAll('SQLite memory', (fault) => sqliteMemoryKind(fault && faultySqlite(fault)))
