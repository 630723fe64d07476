import { describe } from 'vitest'
import { kyselyPgliteKind } from '../../databases/kysely-postgres.ts'
import { contractSuite } from './contract-suite.ts'

describe('over PostgreSQL in this process', () => contractSuite(kyselyPgliteKind()))
