import { describe } from 'vitest'
import { SQLITE } from '../databases.ts'
import { contractSuite } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

// Drawn changes are in contract-sqlite-drawn.test.ts, which runs at the same time.
describe('SQLite', () => contractSuite(storageKind(SQLITE), (name) => !/seed \d/.test(name)))
