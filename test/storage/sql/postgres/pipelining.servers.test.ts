import type pg from 'pg'
import { expect, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin, retire } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import type { HostDatabase } from './host-database.ts'
import { onPostgres } from './host-database.ts'

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

  test.each(['our pool', 'a pool of the host that pipelines'])(
    'a pin of a deleted issue is refused, and nothing of it stays, on %s',
    async (name) => {
      const database = await open()
      const storage = database.storage(name === 'our pool' ? undefined : database.pool(PIPELINING))
      await retire(storage, { thing: 'issue', issueId: '1', ...BOARD })
      await expect(pin(storage, BOARD, '1')).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
      await pin(storage, BOARD, '2')

      expect(await issuesOn(storage, BOARD)).toEqual(['2'])
    },
  )

  test('what is sent together is one write to the socket', async () => {
    const database = await open()
    const pool = database.pool(PIPELINING)
    let writes = 0
    pool.on('connect', ({ connection: { stream } }) => {
      const [write, writev] = [stream._write.bind(stream), stream._writev?.bind(stream)]
      stream._write = (...parameters) => {
        writes += 1
        write(...parameters)
      }
      stream._writev = (...parameters) => {
        writes += 1
        writev?.(...parameters)
      }
    })
    const storage = database.storage(pool)
    for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
    writes = 0
    await pin(storage, BOARD, '3')

    // BEGIN, the lock and the rows; the changes; COMMIT.
    expect(writes).toBe(3)
  })

  test('statements stay prepared after one of them waited too long for a lock', async () => {
    const database = await open()
    await pin(database.storage(), BOARD, '1')
    const other = await database.begun()
    await other.query('update forgelet_heads set version = version')
    const pool = database.pool(PIPELINING)
    const names: unknown[] = []
    pool.on('connect', (client) =>
      watchQueries(client, ({ name, values }) => void (values?.length === 0 || names.push(name))),
    )
    const storage = database.storage(pool)
    const repository = { thing: 'repository', repositoryId: BOARD.repositoryId } as const
    await expect(retire(storage, repository)).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
    await other.query('rollback')
    names.length = 0
    await pin(storage, BOARD, '2')

    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => name === undefined)).toEqual([])
  })

  test('a host that begins again right after a call was aborted has a sound transaction', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const transaction = await database.connect(PIPELINING)
    await transaction.query('begin')
    const control = new AbortController()
    watchQueries(transaction, ({ text }) => {
      if (/^insert into .*forgelet_board_pins/.test(text)) queueMicrotask(() => control.abort(new Error('gone')))
    })
    await expect(pin(storage, BOARD, '2', { transaction, signal: control.signal })).rejects.toThrow('gone')
    await Promise.all([transaction.query('commit'), transaction.query('begin')])

    await expect(transaction.query('select 1')).resolves.toMatchObject({ rowCount: 1 })
    await transaction.query('rollback')
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
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

  test.each(['release', 'forget'] as const)('%s changes nothing if its transaction is not begun', async (name) => {
    const database = await open()
    const pool = database.pool(PIPELINING)
    const refusal = refuseBegins(pool)
    const { events } = database.storage(pool)
    await events.claim({ name: 'mail', holder: 'one' }, 60_000)
    refusal.start()
    const call = name === 'forget' ? events.forget('mail') : events.release({ name: 'mail', holder: 'one' })
    await expect(call).rejects.toMatchObject({ code: 'STORAGE_BUSY' })

    expect(await database.run('select name, holder from forgelet_consumers')).toEqual([{ name: 'mail', holder: 'one' }])
  })

  test('a beforeCommit may read in portions on our pool', async () => {
    const database = await open()
    const storage = database.storage()
    const read: unknown[] = []
    const portions: pg.QueryConfig & { readonly rows: number } = {
      text: 'select n from generate_series(1, 3) as n',
      rows: 2,
    }
    const beforeCommit = async (_: unknown, transaction: pg.ClientBase) => {
      read.push(...(await transaction.query(portions)).rows)
    }
    await pin(storage, BOARD, '1', { beforeCommit })

    expect(read).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })
})

async function leaveOpen(database: HostDatabase, pool: pg.Pool): Promise<void> {
  await database.run('create table left_open (n integer)')
  const client = await pool.connect()
  await client.query('begin')
  await client.query('insert into left_open values (1)')
  client.release()
}

/** Makes the server refuse every BEGIN on a pool from `start` on, as if it were cancelled. Other statements run. */
function refuseBegins(pool: pg.Pool): { start(): void } {
  let isOn = false
  pool.on('connect', (client) => {
    const query: unknown = Reflect.get(client, 'query')
    if (typeof query !== 'function') throw new TypeError('a client has queries')

    Reflect.set(client, 'query', (sent: pg.QueryConfig, ...others: readonly unknown[]) => {
      const isRefused = isOn && typeof sent.text === 'string' && sent.text.startsWith('begin')
      const given = isRefused ? { ...sent, text: `${CANCELLED}; ${sent.text}` } : sent
      return Reflect.apply(query, client, [given, ...others])
    })
  })
  return {
    start: () => {
      isOn = true
    },
  }
}

const CANCELLED = "do $$ begin raise exception using errcode = '57014'; end $$"

/** Calls a listener with every query of the storage on a client, when it is sent. */
function watchQueries(client: pg.ClientBase, listener: (query: pg.QueryConfig) => void): void {
  const query: unknown = Reflect.get(client, 'query')
  if (typeof query !== 'function') throw new TypeError('a client has queries')

  Reflect.set(client, 'query', (...values: readonly unknown[]) => {
    const sent: unknown = Reflect.apply(query, client, values)
    if (typeof values[0] === 'object' && values[0] !== null) listener({ text: '', ...values[0] })
    return sent
  })
}
