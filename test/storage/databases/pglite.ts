import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { PgClient, PgPool, SchemaStorageOptions } from '../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import type { HostTransaction } from '../../../src/testing/testing.ts'
import { emptySchema } from './empty-schema.ts'
import { PglitePool } from './pglite-pool.ts'
import { ReusableSchemas } from './reusable-schemas.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** A PostgreSQL in this process, started when it is first asked for: a real one, with one connection. */
export class PgliteServer {
  #started: Promise<PGlite> | undefined
  #pool: PglitePool | undefined
  #schemas = 0

  /** Its one connection, as a pool. */
  get pool(): PgPool {
    this.#pool ??= new PglitePool(this.#database)
    return this.#pool
  }

  /** A schema that no storage is in yet. */
  newSchema(): string {
    this.#schemas += 1
    return `s${this.#schemas}`
  }

  /** Runs a query, when no transaction is open. */
  async run(text: string, values: unknown[] = []): Promise<readonly unknown[]> {
    const { rows } = await this.pool.query({ text, values })
    return rows
  }

  async end(): Promise<void> {
    await (await this.#started)?.close()
  }

  get #database(): Promise<PGlite> {
    this.#started ??= startPglite()
    return this.#started
  }
}

/**
 * Starts a PostgreSQL in this process from a data directory that an earlier start has left: to make one costs most of a
 * start, seconds of computing, which become minutes on a busy machine.
 */
async function startPglite(): Promise<PGlite> {
  const file = dataFile()
  if (existsSync(file)) return PGlite.create({ loadDataDir: new Blob([readFileSync(file)]) })

  const database = await PGlite.create()
  const data = await database.dumpDataDir('none')
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(unfinished, new Uint8Array(await data.arrayBuffer()))
  renameSync(unfinished, file) // another process may write the same file
  return database
}

/** Each version of PGlite has a file of its own. */
function dataFile(): string {
  const { version } = JSON.parse(readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8'))
  return join('node_modules/.cache/forgelet', `pglite-${version}.tar`)
}

/** Makes a storage over a pool. */
export type MakePgliteStorage = (pool: PgPool, options?: SchemaStorageOptions) => ForgeStorage<PgClient>

/**
 * Storages on a PostgreSQL in this process, for one case after the other. There is nothing to race: its one connection
 * can neither have two storages nor a transaction of the host's beside a storage's own.
 */
export function pgliteKind(
  make: MakePgliteStorage = postgresStorage,
  server: PgliteServer = new PgliteServer(),
): StorageKind<PgClient> {
  const schemas = new WeakMap<ForgeStorage<PgClient>, string>()
  const reusable = new ReusableSchemas(
    (schema) => emptySchema((text, values) => server.run(text, values), schema),
    server.newSchema(),
  )

  let started: Promise<unknown> | undefined

  const over = async (schema: string, options?: SchemaStorageOptions) => {
    started ??= server.run('select 1') // it may need longer to start than a call may take
    await started
    const storage = reusable.watched(schema, await migrated(make(server.pool, { schema, ...options })))
    schemas.set(storage, schema)
    return storage
  }

  return {
    name: 'PostgreSQL in this process',
    open: () => reusable.fresh(over),
    host: {
      beside: (storage) => over(schemas.get(storage) ?? '', { prefix: 'beside_' }),
      begin: () => beginOn(server.pool),
      textIds: () => over(server.newSchema(), TEXT_IDS),
    },
    end: () => server.end(),
  }
}

/** Begins a transaction that has the one connection until it ends: nothing else is done meanwhile. */
async function beginOn(pool: PgPool): Promise<HostTransaction<PgClient>> {
  const client = await pool.connect()
  const run = async (text: string) => void (await client.query({ text, values: [] }))
  const end = (text: string) => () => run(text).finally(() => client.release())
  await run('begin')
  return { transaction: client, commit: end('commit'), rollback: end('rollback') }
}
