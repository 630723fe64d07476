import { once } from 'node:events'
import { Socket } from 'node:net'
import pg from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import { expectAllKept, LARGE_IDS } from './all-kept.ts'
import type { PostgresHost } from './driver-hosts.ts'
import { onPostgres } from './driver-hosts.ts'
import { listenerWarnings } from './listener-warnings.ts'
import { silentProxy } from './proxies.ts'
import { watch } from './watched-connections.ts'

const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }

onPostgres((open) => {
  test.each([undefined, null, 7, {}, { query: 1 }])('%s is not a transaction', async (transaction) => {
    const database = await open()

    await expect(async () =>
      Reflect.apply(database.storage().checkTransaction, undefined, [transaction]),
    ).rejects.toThrow(TypeError)
  })

  test('a pool is not a transaction, not even the storage’s own', async () => {
    const database = await open()
    const pool = database.pool()

    for (const storage of [database.storage(), database.storage(pool)]) {
      await expect(Reflect.apply(storage.checkTransaction, storage, [pool])).rejects.toThrow(/not the pool/)
    }
  })

  test('tables that were created again are those of the storage', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    await database.run('drop schema public cascade; create schema public')
    await database.storage().migrate()
    const transaction = await database.begun()
    await pin(storage, BOARD, '2', { transaction })
    await transaction.query('commit')

    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('missing tables are reported as such, and not as a fault', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    await database.run('drop schema public cascade; create schema public')

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
  })

  test('what is sent together is one packet: a change has two, and three with locks', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const packets = (['_write', '_writev'] as const).map((name) => vi.spyOn(Socket.prototype, name))
    onTestFinished(() => void vi.restoreAllMocks())
    const sent = (): number => packets.reduce((sum, { mock }) => sum + mock.calls.length, 0)
    await pin(storage, BOARD, '2')
    expect(sent()).toBe(2)

    await pin(storage, BOARD, '3', { beforeCommit: async () => undefined })
    expect(sent()).toBeGreaterThan(2 + 3) // with what shows whether the code of the host has left the transaction open
  })

  test('a transaction that has failed is to be run again', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    await transaction.query('select 1 / 0').catch(() => undefined)

    await expect(storage.checkTransaction(transaction)).rejects.toMatchObject(RUN_AGAIN)
    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    await expect(storage.pinBoards.load(BOARD, transaction)).rejects.toMatchObject(RUN_AGAIN)
  })

  test('nothing of how the host set his transaction is changed', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    const statements: string[] = []
    watch(transaction, (text) => text.includes('savepoint') || statements.push(text))
    await pin(storage, BOARD, '1', { transaction })

    expect(statements.filter((text) => /\b(set|begin|commit|rollback)\b/.test(text.replace(/"[^"]*"/g, '')))).toEqual(
      statements.filter((text) => text.startsWith('update ') || text.includes('on conflict')),
    )
  })

  test.each([
    ['own', 'rollback'],
    ['own', 'rollback; begin'],
    ['own', 'select 1 / 0'],
    ['host’s', 'rollback; begin'],
    ['host’s', 'select 1 / 0'],
  ])('a beforeCommit that leaves the %s transaction with "%s" is a TypeError', async (whose, text) => {
    const database = await open()
    const storage = database.storage()
    const transaction = whose === 'own' ? undefined : await database.begun()
    const beforeCommit = async (_: unknown, open: pg.ClientBase) => void (await open.query(text).catch(() => undefined))

    await expect(pin(storage, BOARD, '1', { transaction, beforeCommit })).rejects.toThrow(
      /beforeCommit must leave its transaction open and without/,
    )
    await transaction?.query('commit')
    expect(await issuesOn(storage, BOARD)).toEqual([])
    await pin(storage, BOARD, '2')
  })

  test('a deferred constraint of the host’s that beforeCommit breaks fails the change, with the driver’s error', async () => {
    const database = await open()
    await database.run(
      'create table host_rows (id int primary key, other int references host_rows deferrable initially deferred)',
    )
    const storage = database.storage(database.pool())
    const beforeCommit = async (_: unknown, open: pg.ClientBase) =>
      void (await open.query('insert into host_rows values (1, 2)'))

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject({ code: '23503' })
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('a host whose pool has one connection can pass it to withTransaction, also before anything else', async () => {
    const database: PostgresHost = await open()
    const pool = database.pool({ max: 1 })
    const storage = database.storage(pool)
    const transaction = await pool.connect()
    await transaction.query('begin')
    await storage.checkTransaction(transaction)
    await pin(storage, BOARD, '1', { transaction })
    await transaction.query('commit')
    transaction.release()

    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('a name of the host’s that stands before the catalogue’s changes nothing', async () => {
    const database = await open()
    await database.run("create function lower(text) returns text language sql as $$ select 'x' $$")
    await database.run('create table pg_class (relname text, relkind text)')
    const storage = database.storage(database.pool({ options: `-c search_path=public,pg_catalog` }), {
      schema: undefined,
    })

    expect((await storage.schemaStatus()).state).toBe('current')
    await expectAllKept(storage)
  })

  test('what a host reads of types has no effect on a storage over his pool, and in his transactions', async () => {
    const database = await open()
    for (const type of parsers.keys()) pg.types.setTypeParser(type, () => 7)
    await expectAllKept(database.storage(database.pool()))
    const board = { ...BOARD, repositoryId: '11' }
    const storage = database.storage()
    const transaction = await database.begun()
    for (const issueId of LARGE_IDS) await pin(storage, board, issueId, { transaction })

    expect((await storage.pinBoards.load(board, transaction)).map((row) => row.issueId)).toEqual(LARGE_IDS)
  })

  test.each([
    ['off', 'on'],
    ['remote_apply', 'remote_apply'], // it waits for other servers too
  ])('a change says itself how it is to be made, where synchronous_commit is %s', async (setting, commit) => {
    const database = await open()
    const shown: unknown[] = []
    const storage = database.storage(
      database.pool({ options: `-c default_transaction_isolation=serializable -c synchronous_commit=${setting}` }),
    )
    const show = async (_: unknown, transaction: pg.ClientBase) => {
      const names = ['transaction_isolation', 'synchronous_commit', 'lock_timeout']
      const { rows } = await transaction.query(
        `select ${names.map((name) => `current_setting('${name}') as ${name}`).join()}`,
      )
      shown.push(...rows)
    }
    await pin(storage, BOARD, '1', { beforeCommit: show })

    expect(shown).toEqual([
      {
        transaction_isolation: 'read committed',
        synchronous_commit: commit,
        lock_timeout: expect.stringMatching(/^(4s|\d{1,4}ms)$/),
      },
    ])
  })

  test('connections go back as they were', async () => {
    const database = await open()
    const pool = database.pool({ max: 1 })
    const settings = 'select name, setting from pg_settings order by name'
    const before = await pool.query(settings)
    await expectAllKept(database.storage(pool))

    expect((await pool.query(settings)).rows).toEqual(before.rows)
  })

  test('a setting that endangers committed data is reported', async () => {
    const database = await open()
    const storage = database.storage(database.pool({ options: '-c synchronous_commit=off' }))

    expect((await storage.schemaStatus()).warnings).toEqual([expect.stringMatching(/synchronous_commit = off/)])
  })

  test('a database that cannot hold every text is reported', async () => {
    const database = await open()
    const url = `${database.url}_latin1`
    const name = new URL(url).pathname.slice(1)
    await database.run(`create database ${name} encoding latin1 template template0 lc_collate 'C' lc_ctype 'C'`)
    onTestFinished(async () => void (await database.run(`drop database ${name} with (force)`)))

    expect((await database.storage(url).schemaStatus()).warnings).toEqual([expect.stringMatching(/UTF8/)])
  })

  test('a database that can only be read is unavailable', async () => {
    const database = await open()
    const transaction = await database.begun('begin read only')

    await expect(pin(database.storage(), BOARD, '1', { transaction })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
    })
  })

  test('where no schema is asked for, the tables are those that a statement reaches', async () => {
    const database = await open()
    const behind = database.storage(database.pool({ options: `-c search_path=nowhere,public` }), { schema: undefined })
    await pin(behind, BOARD, '1')

    expect(await issuesOn(database.storage(), BOARD)).toEqual(['1'])
  })
})

const parsers = new Map([16, 17, 20, 21, 23, 25, 114, 701, 1043, 1114, 1184, 1700, 2950, 3802].map(parserOf))

afterEach(() => {
  for (const [type, parser] of parsers) pg.types.setTypeParser(type, parser)
})

function parserOf(type: number): readonly [number, (text: string) => unknown] {
  return [type, pg.types.getTypeParser(type)]
}

const PIPELINING: pg.PoolConfig & { readonly pipeline: boolean } = { max: 1, pipeline: true }

onPostgres((open) => {
  test('a change that fails before it sends anything leaves the transaction usable', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    const elsewhere = { ...BOARD, repositoryId: 'no integer' }
    await expect(pin(storage, elsewhere, '1', { transaction })).rejects.toThrow(TypeError)
    await pin(storage, BOARD, '2', { transaction })
    await transaction.query('commit')

    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('a pin of a deleted issue in a transaction of a host that pipelines leaves the rest of it', async () => {
    const database = await open()
    const storage = database.storage()
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD })
    const transaction = await database.connect(PIPELINING)
    await transaction.query('begin')
    await pin(storage, BOARD, '2', { transaction })
    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
    await pin(storage, BOARD, '3', { transaction })
    await transaction.query('commit')

    expect(await issuesOn(storage, BOARD)).toEqual(['2', '3'])
  })

  test('a transaction that the host left open on a client that pipelines is rolled back, and the change is made', async () => {
    const database = await open()
    const pool = database.pool(PIPELINING)
    const storage = database.storage(pool)
    await pin(storage, BOARD, '1')
    await leaveOpen(database, pool)
    await pin(storage, BOARD, '2')

    expect(await issuesOn(storage, BOARD)).toEqual(['1', '2'])
    expect(await database.run('select * from left_open')).toEqual([])
  })

  test('a change is not made if its transaction is not begun', async () => {
    const database = await open()
    const pool = database.pool(PIPELINING)
    const { events } = database.storage(pool)
    await events.claim({ name: 'mail', holder: 'one' }, 60_000)
    refuseBegins(pool)
    await expect(events.forget('mail')).rejects.toMatchObject({ code: 'STORAGE_BUSY' })

    expect(await database.run('select name, holder from forgelet_consumers')).toEqual([{ name: 'mail', holder: 'one' }])
  })
})

async function leaveOpen(database: PostgresHost, pool: pg.Pool): Promise<void> {
  await database.run('create table left_open (n integer)')
  const client = await pool.connect()
  await client.query('begin')
  await client.query('insert into left_open values (1)')
  client.release()
}

/** Makes the server refuse every BEGIN on connections that a pool gives out from now on, as if it were cancelled. Other statements run. */
function refuseBegins(pool: pg.Pool): void {
  pool.on('acquire', (client) => {
    const query: unknown = Reflect.get(client, 'query')
    if (typeof query !== 'function') throw new TypeError('a client has queries')

    Reflect.set(client, 'query', (sent: pg.QueryConfig, ...others: readonly unknown[]) => {
      const isRefused = typeof sent.text === 'string' && sent.text.startsWith('begin')
      const given = isRefused ? { ...sent, text: `${CANCELLED}; ${sent.text}` } : sent
      return Reflect.apply(query, client, [given, ...others])
    })
  })
}

const CANCELLED = "do $$ begin raise exception using errcode = '57014'; end $$"

const REFUSED = { code: expect.stringMatching(/^STORAGE_(BUSY|UNAVAILABLE)$/) }

onPostgres((open) => {
  test('a server that accepts no connection is waited for no longer than five seconds, also for a full pool', async () => {
    const database = await open()
    const proxy = await silentProxy(database.url)
    onTestFinished(() => proxy.end())
    const limits = { max: 2, idleTimeoutMillis: 1, connectionTimeoutMillis: 7000 }
    const pool = database.pool({ connectionString: proxy.url, ...limits })
    const storage = database.storage(pool)
    await issuesOn(storage, BOARD)
    while (pool.totalCount > 0) await once(pool, 'remove')
    proxy.silence()
    const calls = Array.from({ length: 5 }, () => issuesOn(storage, BOARD))

    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: REFUSED })
    }
  })

  test('fifty reads on one connection of the host leave no listeners behind', async () => {
    const database = await open()
    const storage = database.storage(database.pool({ max: 1 }))
    const warnings = listenerWarnings(onTestFinished)
    for (let count = 0; count < 50; count += 1) await issuesOn(storage, BOARD)

    expect(await warnings()).toEqual([])
  })
})
