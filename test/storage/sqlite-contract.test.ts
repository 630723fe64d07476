import { describe } from 'vitest'
import { contractSuite } from './contract-suite.ts'
import { sqliteFileKind } from './databases/sqlite.ts'

describe('a SQLite file', () => contractSuite(sqliteFileKind()))
