import { describe } from 'vitest'
import { contractSuite, SHORT_FORM } from '../../contract-suite.ts'
import { kyselySqliteKind, sqliteKysely } from '../../databases/kysely-sqlite.ts'

// The short form is in contract.test.ts.
describe('over SQLite', () => contractSuite(kyselySqliteKind(sqliteKysely), (name) => !SHORT_FORM.test(name)))
