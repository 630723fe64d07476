import { describe } from 'vitest'
import { SQLITE } from '../databases.ts'
import { consumedBy } from './crowd.ts'
import { storageKind } from './storage-kind.ts'

describe('in a SQLite file', () => consumedBy(storageKind(SQLITE)))
