import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult, Transaction } from 'kysely'
import { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { KyselyStorageOptions } from '../../../src/storage/kysely.ts'
import { kyselyStorage } from '../../../src/storage/kysely.ts'
import type { PgPoolClient } from '../../../src/storage/postgres.ts'
import type { RunPostgres } from './empty-schema.ts'
import { emptySchema } from './empty-schema.ts'
import { heldOpen } from './kysely-host.ts'
import type { HostTables } from './kysely-sqlite.ts'
import { PgliteServer } from './pglite.ts'
import { PostgresDatabase } from './postgres.ts'
import { ReusableSchemas } from './reusable-schemas.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

type Tx = Transaction<HostTables>
type Options = Omit<KyselyStorageOptions, 'dialect'>

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** Storages over Kyselys on a PostgreSQL server, each in a schema of its own; schemas are used again. */
export function kyselyPostgresKind(server: string): StorageKind<Tx> {
  const database = new PostgresDatabase(server)
  let pool: Promise<pg.Pool> | undefined
  const hostPool = () => {
    pool ??= database.pool.then(received)
    return pool
  }
  return overSchemas({
    name: 'Kysely over a PostgreSQL server',
    connections: 'many',
    newSchema: () => database.newSchema(),
    run: (text, values) => database.run(text, values),
    open: () => postgresKysely(hostPool),
    end: () => database.end(),
  })
}

/** Storages over Kyselys on a PostgreSQL in this process, which has one connection: nothing is done beside a transaction. */
export function kyselyPgliteKind(): StorageKind<Tx> {
  const server = new PgliteServer()
  return overSchemas({
    name: 'Kysely over PostgreSQL in this process',
    connections: 'one',
    newSchema: () => server.newSchema(),
    run: (text, values) => server.run(text, values),
    open: () => postgresKysely(async () => pglitePool(server)),
    end: () => server.end(),
  })
}

/** Opens a Kysely as a host has one: with plugins. */
export function postgresKysely(pool: PostgresPool | (() => Promise<PostgresPool>)): Kysely<HostTables> {
  return new Kysely({
    dialect: new PostgresDialect({ pool }),
    plugins: [new CamelCasePlugin(), new ParseJSONResultsPlugin()],
  })
}

/** A pool whose host listens for lost connections, also for those in use: unhandled, they would end the process. */
export function received(pool: pg.Pool): pg.Pool {
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

interface Schemas {
  readonly name: string
  readonly connections: 'one' | 'many'
  newSchema(): string
  readonly run: RunPostgres
  open(): Kysely<HostTables>
  end(): Promise<void>
}

function overSchemas({ name, connections, newSchema, run, open, end }: Schemas): StorageKind<Tx> {
  const places = new WeakMap<ForgeStorage<Tx>, { schema: string; kysely: Kysely<HostTables> }>()
  const reusable = new ReusableSchemas((schema) => emptySchema(run, schema))

  let started: Promise<unknown> | undefined

  const over = async (schema: string, options?: Options) => {
    started ??= run('select 1') // a PostgreSQL in this process may need longer to start than a call may take
    await started
    const kysely = open()
    const made = await migrated(kyselyStorage(kysely, { dialect: 'postgres', schema, ...options }))
    const storage = reusable.watched(schema, made)
    places.set(storage, { schema, kysely })
    return storage
  }
  const placeOf = (storage: ForgeStorage<Tx>) => {
    const place = places.get(storage)
    if (place === undefined) throw new TypeError('the storage is not of this kind')
    return place
  }
  const begin = (storage: ForgeStorage<Tx>) => placeOf(storage).kysely.transaction()

  return {
    name,
    open: () => reusable.fresh(over),
    host: {
      beside: (storage) => over(placeOf(storage).schema, { prefix: 'beside_' }),
      begin: (storage) => heldOpen(begin(storage)),
      textIds: () => over(newSchema(), TEXT_IDS),
      ...(connections === 'many' && {
        again: (storage: ForgeStorage<Tx>) => over(placeOf(storage).schema),
        beginSnapshot: (storage: ForgeStorage<Tx>) => heldOpen(begin(storage).setIsolationLevel('repeatable read')),
        beginReadCommitted: (storage: ForgeStorage<Tx>) => heldOpen(begin(storage).setIsolationLevel('read committed')),
      }),
    },
    end,
  }
}

/** The one connection, as Kysely asks for connections. */
function pglitePool(server: PgliteServer): PostgresPool {
  return { connect: async () => new PgliteClient(await server.pool.connect()), end: async () => undefined }
}

class PgliteClient implements PostgresPoolClient {
  readonly #client: PgPoolClient

  constructor(client: PgPoolClient) {
    this.#client = client
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    text: string | PostgresCursor<R>,
    values: readonly unknown[] = [],
  ): PostgresCursor<R> | Promise<PostgresQueryResult<R>> {
    if (typeof text !== 'string') throw new TypeError('there are no cursors here')
    return this.#run<R>(text, values)
  }

  release(): void {
    this.#client.release()
  }

  async #run<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const { rows } = await this.#client.query({ text, values: [...values] })
    const found = rows as R[] // unknown data: Kysely says what rows it asks for
    return { command: 'SELECT', rowCount: found.length, rows: found }
  }
}
