import { createPool } from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import type { Forge } from '../../../../src/index.ts'
import { mariadbStorage } from '../../../../src/storage/mariadb.ts'
import type { HostTransaction } from '../../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../../../src/storage/storage.ts'
import type { Person } from '../../../core/a-forge.ts'
import { olga } from '../../../core/a-forge.ts'
import type { ServerKind } from '../../../databases.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, SERVERS } from '../../../databases.ts'
import { postgresKysely } from '../../client-kinds.ts'
import { forgeOn } from '../../forge-on.ts'
import type { CountingProxy } from '../../proxies.ts'
import { countingProxy } from '../../proxies.ts'

/** What a call is counted on. */
interface Host {
  readonly forge: Forge<Person, unknown>
  /** The same with a `beforeCommit` that does nothing on the connection. */
  readonly watching: Forge<Person, unknown>
  /** Runs work in a transaction of the host, from BEGIN to COMMIT. */
  readonly during: (work: (transaction: unknown) => Promise<unknown>) => Promise<void>
}

/**
 * One call. It is made several times, each with another number, and the median counts: the first time statements are
 * prepared, and on a busy machine limits may be sent again.
 */
interface CountedCall {
  prepare?(host: Host, n: number): Promise<unknown>
  run(host: Host, n: number): Promise<unknown>
}

const RUNS = 3
const issue = (board: number, id: number) => ({ id, repositoryId: board, kind: 'issue' }) as const
const account = (id: number) => ({ kind: 'user', id }) as const

const PIN: CountedCall = { run: ({ forge }, n) => forge.pins.pin(olga, issue(n, n)) }

const CALLS = {
  'pins an issue': PIN,
  'pins an issue, with a beforeCommit': { run: ({ watching }, n) => watching.pins.pin(olga, issue(100 + n, 100 + n)) },
  'moves the last of two': {
    async prepare({ forge }, n) {
      for (const id of [1, 2]) await forge.pins.pin(olga, issue(700 + n, 10_000 * n + id))
    },
    run: ({ forge }, n) => forge.pins.move(olga, { issue: issue(700 + n, 10_000 * n + 2), position: 1 }),
  },
  'blocks a user': {
    run: ({ forge }, n) => forge.blocks.block(olga, { organizationId: 10, account: account(100 + n) }),
  },
  'grants four badges': {
    run: ({ forge }, n) => forge.badges.grant(olga, { userId: 200 + n, slugs: ['a', 'b', 'c', 'd'] }),
  },
  'lists who holds a badge, from the second page': {
    run: ({ forge }) => forge.badges.holders(olga, { slug: 'a', page: 2, limit: 2 }),
  },
  'reads new events': {
    async prepare({ forge }, n) {
      await forge.events.read({ after: 's0', limit: 1000 })
      await forge.pins.pin(olga, issue(500 + n, 500 + n))
    },
    run: ({ forge }) => forge.events.read({ after: 's0', limit: 1000 }),
  },
  'reads no new events': {
    prepare: ({ forge }) => forge.events.read({ after: 's0', limit: 1000 }),
    run: ({ forge }) => forge.events.read({ after: 's0', limit: 1000 }),
  },
} satisfies Record<string, CountedCall>

const IN_TRANSACTION: CountedCall = {
  run: ({ forge, during }, n) =>
    during((transaction) =>
      forge.withTransaction(transaction, (services) => services.pins.pin(olga, issue(600 + n, 600 + n))),
    ),
}

/** The round trips of each call with a storage that was opened for a URL, on PostgreSQL and on MariaDB. */
const ON_OUR_POOL: { readonly [C in keyof typeof CALLS]: readonly [postgres: number, mariadb: number] } = {
  'pins an issue': [2, 8],
  'pins an issue, with a beforeCommit': [5, 10],
  'moves the last of two': [4, 9],
  'blocks a user': [3, 9],
  'grants four badges': [2, 14],
  'lists who holds a badge, from the second page': [1, 1],
  'reads new events': [5, 9],
  'reads no new events': [2, 2],
}

interface Opened {
  readonly storage: ForgeStorage<unknown>
  readonly begin?: () => Promise<{ readonly transaction: unknown; commit(): Promise<unknown> }>
  readonly end?: () => Promise<unknown>
}

onServer(SERVERS.postgres, () => {
  test('on PostgreSQL each call takes as few as its answers allow', async () => {
    await expectFew(await hostOf(POSTGRES, (url) => ({ storage: anyHost(postgresStorage(url)) })), 0)
  })

  test.each([
    { pool: 'a pool that pipelines', pipeline: true, pin: 2, transaction: 7 },
    { pool: 'any other pool', pipeline: false, pin: 2, transaction: 10 },
  ])('a host of PostgreSQL gets them with $pool: $pin and $transaction', async ({ pipeline, pin, transaction }) => {
    const { host, proxy } = await hostOf(POSTGRES, (url) => openPgPool(url, pipeline))

    expect(await hostRoundTrips(host, proxy)).toEqual({ pin, transaction })
  })

  test.each<readonly [string, number, (url: string) => Opened]>([
    ['postgres.js', 3, openPostgresJs],
    ['Kysely', 6, openKysely],
  ])('over %s, which does not say whether a transaction is open, a pin takes %d', async (_, pin, open) => {
    const { host, proxy } = await hostOf(POSTGRES, open)

    expect(await roundTrips(host, proxy, PIN)).toBe(pin)
  })
})

onServer(SERVERS.mariadb, () => {
  test('on MariaDB each call takes as few as its answers allow', async () => {
    await expectFew(await hostOf(MARIADB, (url) => ({ storage: anyHost(mariadbStorage(url)) })), 1)
  })

  test('a host of MariaDB gets them with any pool', async () => {
    const { host, proxy } = await hostOf(MARIADB, openMariadbPool)

    expect(await hostRoundTrips(host, proxy)).toEqual({ pin: 10, transaction: 13 })
  })
})

async function expectFew({ host, proxy }: { host: Host; proxy: CountingProxy }, column: 0 | 1): Promise<void> {
  for (const [name, call] of Object.entries(CALLS)) {
    const expected = ON_OUR_POOL[name as keyof typeof CALLS][column]
    expect([name, await roundTrips(host, proxy, call)]).toEqual([name, expected])
  }
}

/** Those of a pin, and of a host's transaction with a pin in it. */
async function hostRoundTrips(host: Host, proxy: CountingProxy) {
  return { pin: await roundTrips(host, proxy, PIN), transaction: await roundTrips(host, proxy, IN_TRANSACTION) }
}

async function roundTrips(host: Host, proxy: CountingProxy, call: CountedCall): Promise<number> {
  const counts: number[] = []
  for (let n = 1; n <= RUNS; n += 1) {
    await call.prepare?.(host, n)
    counts.push(await proxy.count(() => call.run(host, n)))
  }
  return counts.sort((one, other) => one - other)[Math.floor(RUNS / 2)] ?? 0
}

async function hostOf(kind: ServerKind, open: (url: string) => Opened) {
  const database = await newDatabase(kind)
  const proxy = await countingProxy(database.url)
  onTestFinished(() => proxy.end())
  const { storage, begin, end } = open(proxy.url)
  onTestFinished(async () => {
    await storage.close()
    await end?.()
  })
  await storage.migrate()
  const forge = forgeOn(storage)
  const watching = forgeOn(storage, { beforeCommit: () => undefined })
  for (const slug of ['a', 'b', 'c', 'd']) await forge.badges.catalogue.define(olga, { slug })
  const host: Host = {
    forge,
    watching,
    async during(work) {
      if (begin === undefined) throw new TypeError('the host has no connections')
      const { transaction, commit } = await begin()
      await work(transaction)
      await commit()
    },
  }
  return { host, proxy }
}

function openPgPool(connectionString: string, pipeline: boolean): Opened {
  const options: pg.PoolConfig & { readonly pipeline: boolean } = { connectionString, pipeline }
  const pool = new pg.Pool(options)
  pool.on('error', () => undefined) // the database may go before its last connection has ended
  return {
    storage: anyHost(postgresStorage<pg.PoolClient>(pool)),
    async begin() {
      const transaction = await pool.connect()
      await transaction.query('begin')
      return { transaction, commit: () => transaction.query('commit').then(() => transaction.release()) }
    },
    end: () => pool.end(),
  }
}

function openPostgresJs(url: string): Opened {
  const sql = postgres(url, { onnotice: () => undefined })
  return { storage: anyHost(postgresStorage<HostTransaction>(sql)), end: () => sql.end() }
}

function openKysely(url: string): Opened {
  const database = postgresKysely(url)
  return { storage: anyHost(postgresStorage(database)), end: () => database.destroy() }
}

function openMariadbPool(uri: string): Opened {
  const pool = createPool({ uri })
  return {
    storage: anyHost(mariadbStorage(pool)),
    async begin() {
      const transaction = await pool.getConnection()
      await transaction.beginTransaction()
      return { transaction, commit: () => transaction.commit().then(() => transaction.release()) }
    },
    end: () => pool.end(),
  }
}

/** The tests hand each storage the transactions of its own host. */
function anyHost<Tx>(storage: ForgeStorage<Tx>): ForgeStorage<unknown> {
  return storage as ForgeStorage<unknown>
}
