import { describe } from 'vitest'
import { kyselySqliteKind, sqliteKysely } from '../../databases/kysely-sqlite.ts'
import { contractSuite } from './contract-suite.ts'

describe('over SQLite', () => contractSuite(kyselySqliteKind(sqliteKysely)))
