import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { ForgeUnderTest } from './forge-under-test.ts'
import { modelSuite } from './model-suite.ts'

modelSuite('SQLite in memory', () => new ForgeUnderTest(sqliteStorage(':memory:')), 30)
