import { describe } from 'vitest'
import { SQLITE } from '../databases.ts'
import { contractSuite } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

describe('SQLite', () => contractSuite(storageKind(SQLITE), (name) => /seed \d/.test(name)))
