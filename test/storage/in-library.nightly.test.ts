import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe } from 'vitest'
import {
  fromDrizzle,
  fromKnex,
  fromMariadb,
  fromMikroOrm,
  fromPostgresJs,
  fromTypeOrm,
} from '../../src/storage/storage.ts'
import type { ServerKind } from '../databases.ts'
import { MARIADB, onServer, POSTGRES } from '../databases.ts'
import { INSTALLATION, installPackages, packageFolder } from '../packages.ts'
import type { BeginningLibrary, TakenLibrary } from './in-library-suite.ts'
import { inLibrary } from './in-library-suite.ts'

const folder = packageFolder()
/** MikroORM 7, beside 6. */
const newer = packageFolder()
const load = (name: string, from = folder) =>
  import(pathToFileURL(createRequire(join(from, 'index.js')).resolve(name)).href)

beforeAll(() => {
  const libraries = ['typeorm@1.1.1', '@mikro-orm/postgresql@6.6.7', '@mikro-orm/mariadb@6.6.7', 'drizzle-orm@0.45.4']
  const drivers = ['pg@8.23.1', 'mysql2@3.24.5', 'postgres@3.4.9', 'mariadb@3.5.4']
  const begun = ['objection@3.1.5', 'knex@3.3.0', 'pg-promise@12.7.1', 'slonik@46.8.0', 'sequelize@6.37.8']
  installPackages(folder, [...libraries, ...drivers, ...begun])
  installPackages(newer, ['@mikro-orm/postgresql@7.2.1', '@mikro-orm/mariadb@7.2.1'])
}, INSTALLATION)

const LIBRARIES: readonly (readonly [string, ServerKind, (url: string) => Promise<TakenLibrary>])[] = [
  ['TypeORM', POSTGRES, (url) => typeOrm({ type: 'postgres', url })],
  ['TypeORM', MARIADB, (url) => typeOrm({ type: 'mariadb', url })],
  ['MikroORM 6', POSTGRES, (url) => mikroOrm('@mikro-orm/postgresql', url)],
  ['MikroORM 6', MARIADB, (url) => mikroOrm('@mikro-orm/mariadb', url)],
  ['MikroORM 7', POSTGRES, (url) => mikroOrm('@mikro-orm/postgresql', url, newer)],
  ['MikroORM 7', MARIADB, (url) => mikroOrm('@mikro-orm/mariadb', url, newer)],
  [
    'postgres.js',
    POSTGRES,
    async (url) => {
      const library = (await load('postgres')).default(url, { onnotice: () => undefined })
      return { library, wrap: fromPostgresJs, outside: library, close: () => library.end() }
    },
  ],
  [
    'Drizzle on postgres.js',
    POSTGRES,
    async (url) => {
      const client = (await load('postgres')).default(url, { onnotice: () => undefined })
      const { sql } = await load('drizzle-orm')
      const database = (await load('drizzle-orm/postgres-js')).drizzle(client)
      const wrap: TakenLibrary['wrap'] = (one) => fromDrizzle(one, sql)
      return { library: { database, sql }, wrap, outside: database, close: () => client.end() }
    },
  ],
  [
    'npm mariadb',
    MARIADB,
    async (url) => {
      const library = (await load('mariadb')).default.createPool(url.replace(/^mysql:/, 'mariadb:'))
      const outside = await library.getConnection()
      const close = () => outside.release().then(() => library.end())
      return { library, wrap: fromMariadb, outside, close }
    },
  ],
]

describe.each(LIBRARIES)('inTransaction of %s', (_name, kind, open) =>
  onServer(kind.server, () => inLibrary(kind, open)),
)

/** As docs/databases.md has them, on PostgreSQL. */
const BEGINNING: Readonly<Record<string, (url: string) => Promise<BeginningLibrary>>> = {
  Objection: async (connection) => {
    const knex = (await load('knex')).default({ client: 'pg', connection })
    const { Model } = (await load('objection')).default
    Model.knex(knex)
    const begin: BeginningLibrary['begin'] = (work) => Model.transaction(work)
    return { begin, wrap: fromKnex, outside: knex, close: () => knex.destroy() }
  },
  'pg-promise': async (url) => {
    const database = (await load('pg-promise')).default()(url)
    const wrap = (t: Task) => ({
      identity: t,
      run: (text: string, values: readonly unknown[]) => t.any({ text, values: [...values] }),
    })
    return { begin: (work) => database.tx(work), wrap, outside: database, close: () => database.$pool.end() }
  },
  slonik: async (url) => {
    const { createPool, sql } = await load('slonik')
    const pool = await createPool(url)
    const wrap = (t: Task) => ({
      identity: t,
      run: async (text: string, values: readonly unknown[]) =>
        (await t.query({ ...sql.unsafe``, sql: text, values: [...values] })).rows,
    })
    return { begin: (work) => pool.transaction(work), wrap, outside: pool, close: () => pool.end() }
  },
}

/** A transaction of pg-promise or slonik. */
interface Task {
  any(query: object): Promise<unknown[]>
  query(query: object): Promise<{ readonly rows: readonly unknown[] }>
}

describe('withTransaction of Sequelize on npm mariadb', () =>
  onServer(MARIADB.server, () => inLibrary(MARIADB, sequelize, { isTaken: false })))

async function sequelize(url: string): Promise<BeginningLibrary> {
  const { Sequelize } = (await load('sequelize')).default
  const library = new Sequelize(url.replace(/^mysql:/, 'mariadb:'), { dialect: 'mariadb', logging: false })
  const pool = (await load('mariadb')).default.createPool(url.replace(/^mysql:/, 'mariadb:'))
  const outside = await pool.getConnection()
  const options = { isolationLevel: 'READ COMMITTED' }
  const begin: BeginningLibrary['begin'] = (work) =>
    library.transaction(options, ({ connection }: { readonly connection: never }) => work(connection))
  const close = () => Promise.all([library.close(), outside.release().then(() => pool.end())])
  return { begin, wrap: fromMariadb, outside, close }
}

describe.each(Object.entries(BEGINNING))('withTransaction of %s', (_name, open) =>
  onServer(POSTGRES.server, () => inLibrary(POSTGRES, open, { isTaken: false })),
)

async function typeOrm(options: object): Promise<TakenLibrary> {
  const { DataSource } = (await load('typeorm')).default
  const library = await new DataSource(options).initialize()
  return { library, wrap: fromTypeOrm, outside: library.manager, close: () => library.destroy() }
}

async function mikroOrm(name: string, clientUrl: string, from = folder): Promise<TakenLibrary> {
  const { MikroORM } = await load(name, from)
  const orm = await MikroORM.init({ clientUrl, entities: [], discovery: { warnWhenNoEntities: false } })
  // Each call has a fork of its own, as each request has in an application.
  const library = { transactional: (...given: unknown[]) => orm.em.fork().transactional(...given) }
  return { library, wrap: fromMikroOrm, outside: orm.em.fork(), close: () => orm.close() }
}
