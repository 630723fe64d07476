import { describe } from 'vitest'
import { contractSuite, QUICK_FORM } from './contract-suite.ts'
import { pgliteKind } from './databases/pglite.ts'

// The shortest form is in contract.test.ts.
describe('PostgreSQL in this process', () => contractSuite(pgliteKind(), (name) => !QUICK_FORM.test(name)))
