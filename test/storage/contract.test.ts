import { describe } from 'vitest'
import { contractSuite } from './contract-suite.ts'
import { memoryKind } from './storage-kind.ts'

describe('memory', () => contractSuite(memoryKind()))
