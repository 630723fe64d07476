import { describe } from 'vitest'
import { contractSuite, SHORT_FORM } from './contract-suite.ts'
import { pgliteKind } from './databases/pglite.ts'
import { sqliteMemoryKind } from './databases/sqlite.ts'

describe('SQLite in memory', () => contractSuite(sqliteMemoryKind()))
// The short form is in contract.test.ts.
describe('PostgreSQL in this process', () => contractSuite(pgliteKind(), (name) => !SHORT_FORM.test(name)))
