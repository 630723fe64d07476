import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromDrizzle, fromMariadb, fromMikroOrm, fromPostgresJs, fromTypeOrm } from '../../src/storage/storage.ts'
import type { ServerKind } from '../databases.ts'
import { MARIADB, onServer, POSTGRES } from '../databases.ts'
import type { OpenedLibrary } from './in-library-suite.ts'
import { inLibrary } from './in-library-suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'forgelet-libraries-'))
const { resolve } = createRequire(join(folder, 'index.js'))
const load = (name: string) => import(pathToFileURL(resolve(name)).href)

beforeAll(() => {
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const libraries = ['typeorm@1.1.1', '@mikro-orm/postgresql@6.6.7', '@mikro-orm/mariadb@6.6.7', 'drizzle-orm@0.45.4']
  const drivers = ['pg@8.23.1', 'mysql2@3.24.5', 'postgres@3.4.9', 'mariadb@3.5.4']
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...libraries, ...drivers], { stdio: 'pipe' })
}, 240_000)
afterAll(() => rmSync(folder, { recursive: true }))

const LIBRARIES: readonly (readonly [string, ServerKind, (url: string) => Promise<OpenedLibrary>])[] = [
  ['TypeORM', POSTGRES, (url) => typeOrm({ type: 'postgres', url })],
  ['TypeORM', MARIADB, (url) => typeOrm({ type: 'mariadb', url })],
  ['MikroORM', POSTGRES, (url) => mikroOrm('@mikro-orm/postgresql', url)],
  ['MikroORM', MARIADB, (url) => mikroOrm('@mikro-orm/mariadb', url)],
  [
    'postgres.js',
    POSTGRES,
    async (url) => {
      const library = (await load('postgres')).default(url, { onnotice: () => undefined })
      return { library, wrap: fromPostgresJs, close: () => library.end() }
    },
  ],
  [
    'Drizzle on postgres.js',
    POSTGRES,
    async (url) => {
      const client = (await load('postgres')).default(url, { onnotice: () => undefined })
      const { sql } = await load('drizzle-orm')
      const database = (await load('drizzle-orm/postgres-js')).drizzle(client)
      return { library: { database, sql }, wrap: (one) => fromDrizzle(one, sql), close: () => client.end() }
    },
  ],
  [
    'npm mariadb',
    MARIADB,
    async (url) => {
      const library = (await load('mariadb')).default.createPool(url.replace(/^mysql:/, 'mariadb:'))
      return { library, wrap: fromMariadb, close: () => library.end() }
    },
  ],
]

describe.each(LIBRARIES)('inTransaction of %s', (_name, kind, open) =>
  onServer(kind.server, () => inLibrary(kind, open)),
)

test('a manager outside of a transaction is none', async () => {
  expect(() => fromTypeOrm({ query: async () => [] })).toThrow(TypeError)
  expect(() => fromMikroOrm({ getTransactionContext: () => undefined })).toThrow(TypeError)
})

async function typeOrm(options: object): Promise<OpenedLibrary> {
  const { DataSource } = (await load('typeorm')).default
  const library = await new DataSource(options).initialize()
  return { library, wrap: fromTypeOrm, close: () => library.destroy() }
}

async function mikroOrm(name: string, clientUrl: string): Promise<OpenedLibrary> {
  const { MikroORM } = await load(name)
  const orm = await MikroORM.init({ clientUrl, entities: [], discovery: { warnWhenNoEntities: false } })
  // Each call has a fork of its own, as each request has in an application.
  const library = { transactional: (...given: unknown[]) => orm.em.fork().transactional(...given) }
  return { library, wrap: fromMikroOrm, close: () => orm.close() }
}
