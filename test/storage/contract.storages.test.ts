import { describe } from 'vitest'
import { contractSuite } from './contract-suite.ts'
import { sqliteMemoryKind } from './databases/sqlite.ts'

describe('SQLite in memory', () => contractSuite(sqliteMemoryKind()))
