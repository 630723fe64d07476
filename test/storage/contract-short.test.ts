import { describe } from 'vitest'
import { PGLITE } from '../databases.ts'
import { contractSuite, QUICK_FORM, SHORT_FORM } from './contract-suite.ts'
import { KYSELY_SQLITE } from './kysely-kinds.ts'
import { storageKind } from './storage-kind.ts'

// All of it is in contract.nightly.test.ts.
describe('PGlite', () => contractSuite(storageKind(PGLITE), (name) => QUICK_FORM.test(name)))
describe('Kysely over SQLite', () => contractSuite(storageKind(KYSELY_SQLITE), (name) => SHORT_FORM.test(name)))
