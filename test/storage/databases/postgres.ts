import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { SchemaStorageOptions } from '../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import type { HostTransaction } from '../../../src/testing/testing.ts'
import { emptySchema } from './empty-schema.ts'
import { ReusableSchemas } from './reusable-schemas.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

/** Makes a storage over a URL or a pool. */
export type MakePostgresStorage = (
  urlOrPool: string | pg.Pool,
  options?: SchemaStorageOptions,
) => ForgeStorage<pg.PoolClient>

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** A database of its own on a server, made when it is first asked for, with a pool as a host has one. */
export class PostgresDatabase {
  readonly #server: string
  readonly #name = `forgelet_test_${process.pid}_${randomBytes(4).toString('hex')}`
  #pool: Promise<pg.Pool> | undefined
  #schemas = 0

  /** @param server - the URL of any database on it */
  constructor(server: string) {
    this.#server = server
  }

  get url(): string {
    const url = new URL(this.#server)
    url.pathname = `/${this.#name}`
    return url.href
  }

  /** The host's pool. */
  get pool(): Promise<pg.Pool> {
    this.#pool ??= this.#create()
    return this.#pool
  }

  /** A schema that no storage is in yet. */
  newSchema(): string {
    this.#schemas += 1
    return `s${this.#schemas}`
  }

  /** Runs one statement on the host's pool. */
  async run(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const pool = await this.pool
    const { rows } = await pool.query(text, [...values])
    return rows
  }

  async end(): Promise<void> {
    if (this.#pool === undefined) return

    const pool = await this.#pool
    await pool.end()
    await this.#administer(`drop database if exists ${this.#name} with (force)`)
  }

  async #create(): Promise<pg.Pool> {
    await this.#administer(`create database ${this.#name}`)
    const pool = new pg.Pool({ connectionString: this.url, max: 40 })
    pool.on('error', () => undefined) // the database may be dropped before the last connection has ended
    return pool
  }

  async #administer(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#server })
    await client.connect()
    await client.query(text)
    await client.end()
  }
}

/**
 * Storages on a PostgreSQL server, each in a schema of its own, over a URL; hosts have a pool of their own. For one case
 * after the other: a schema whose storages are all closed is emptied and used again.
 */
export function postgresKind(server: string, make: MakePostgresStorage = postgresStorage): StorageKind<pg.PoolClient> {
  const database = new PostgresDatabase(server)
  const schemas = new WeakMap<ForgeStorage<pg.PoolClient>, string>()
  const reusable = new ReusableSchemas((schema) => emptySchema((text, values) => database.run(text, values), schema))

  const over = async (schema: string, options?: SchemaStorageOptions) => {
    await database.pool
    const storage = reusable.watched(schema, await migrated(make(database.url, { schema, ...options })))
    schemas.set(storage, schema)
    return storage
  }
  const schemaOf = (storage: ForgeStorage<pg.PoolClient>) => {
    const schema = schemas.get(storage)
    if (schema === undefined) throw new TypeError('the storage is not of this kind')
    return schema
  }
  const begin = async (text: string) => {
    const pool = await database.pool
    const client = await pool.connect()
    await client.query(text)
    return hostTransaction(client)
  }

  return {
    name: 'a PostgreSQL server',
    open: () => reusable.fresh(over),
    host: {
      again: (storage) => over(schemaOf(storage)),
      beside: (storage) => over(schemaOf(storage), { prefix: 'beside_' }),
      begin: () => begin('begin'),
      beginSnapshot: () => begin('begin isolation level repeatable read'),
      beginReadCommitted: () => begin('begin isolation level read committed'),
      textIds: () => over(database.newSchema(), TEXT_IDS),
    },
    end: () => database.end(),
  }
}

/** A transaction that was begun on a client, as the host ends it. */
function hostTransaction(client: pg.PoolClient): HostTransaction<pg.PoolClient> {
  return {
    transaction: client,
    commit: async () => void (await client.query('commit')),
    rollback: async () => void (await client.query('rollback')),
    release: () => client.release(),
  }
}
