import { afterAll, beforeAll } from 'vitest'
import { PgliteServer, pgliteKind } from '../databases/pglite.ts'
import { catchAll } from './catch-all.ts'
import { faultyPostgres } from './sql-assembly.ts'

const server = new PgliteServer()
beforeAll(() => server.run('select 1')) // it takes seconds to start
afterAll(() => server.end())

catchAll('PGlite', (fault) => ({ ...pgliteKind(fault && faultyPostgres(fault), server), end: async () => undefined }))
