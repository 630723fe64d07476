import { describe } from 'vitest'
import { PGLITE } from '../databases.ts'
import { contractSuite, isBeforeEachChange, QUICK_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

// All of it is in contract.nightly.test.ts. The longest case takes 12 seconds where nothing else runs.
describe('PGlite', { timeout: 90_000 }, () =>
  contractSuite(storageKind(PGLITE), (name, names) => QUICK_FORM.test(name) && isBeforeEachChange(name, names)),
)
