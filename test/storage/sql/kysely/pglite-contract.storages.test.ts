import { describe } from 'vitest'
import { contractSuite } from '../../contract-suite.ts'
import { kyselyPgliteKind } from '../../databases/kysely-postgres.ts'

describe('over PostgreSQL in this process', () => contractSuite(kyselyPgliteKind()))
