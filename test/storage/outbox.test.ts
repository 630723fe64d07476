import { describe } from 'vitest'
import { consumedBy } from './consumed-by.ts'
import { sqliteFileKind } from './databases/sqlite.ts'

describe('in a SQLite file', () => consumedBy(sqliteFileKind()))
