import { standaloneAccessSuite } from './standalone-access-suite.ts'

standaloneAccessSuite('SQLite', async () => ':memory:')
