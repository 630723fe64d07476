import { once } from 'node:events'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { AT_ONCE, FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import { silentProxy } from '../server/silent-proxy.ts'
import { cutAtCommit, freePort } from './cut-at-commit.ts'
import type { HostDatabase } from './host-database.ts'
import { onPostgres } from './host-database.ts'

const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }
const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }

// Nobody but the storage hears the errors of these pools and clients: unheard, they would end the process of the tests.
onPostgres((open, server) => {
  test.each(['the host’s pool', 'a pool of our own'])(
    'when idle connections are ended, the next call on %s works',
    async (kind) => {
      const database = await open()
      const storage = database.storage(kind === 'the host’s pool' ? database.pool() : database.url)
      await Promise.all(['1', '2', '3'].map((issueId) => pin(storage, BOARD, issueId)))
      await endConnections(database)
      await pause()

      expect(await issuesOn(storage, BOARD)).toHaveLength(3)
      await pin(storage, BOARD, '4')
    },
  )

  test('when a connection is ended in the middle of a change, nothing is done, and the next call works', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const beforeCommit = () => endConnections(database)

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
    await pin(storage, BOARD, '2')
    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('when a connection is ended while the host works on it, the storage is what is unavailable', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const beforeCommit = async (_: unknown, transaction: pg.ClientBase) => {
      await endConnections(database)
      await transaction.query('select 1')
    }

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
  })

  test('when connections are ended again and again, every call ends, and what it answered is so', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    let busy = true
    const ending = (async () => {
      while (busy) await endConnections(database)
    })()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => pin(storage, { ...BOARD, repositoryId: String(100 + n) }, String(n))),
    )
    busy = false
    await ending

    for (const [n, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      else expect(await issuesOn(database.storage(), { ...BOARD, repositoryId: String(100 + n) })).toEqual([String(n)])
    }
  })

  test('when the connection of a joined transaction is ended, nothing is done', async () => {
    const database = await open()
    const storage = database.storage()
    const host = database.pool()
    const transaction = await host.connect()
    onTestFinished(() => transaction.release(true))
    transaction.on('error', () => undefined)
    await transaction.query('begin')
    await pin(storage, BOARD, '1', { transaction })
    await endConnections(database)

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(NOTHING_DONE)
    expect(await issuesOn(database.storage(), BOARD)).toEqual([])
  })

  test.each([
    ['before it came to the server', 'before', []],
    ['after it came to the server', 'after', ['1']],
  ] as const)('when the connection is lost %s, the outcome of a COMMIT is unknown', async (_, moment, issues) => {
    const database = await open()
    const storage = database.storage(await cutAtCommit(database.url, moment))

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject(UNKNOWN)
    expect(await issuesOn(database.storage(), BOARD)).toEqual(issues)
  })

  test('a server that refuses connections is unavailable at once', async () => {
    const storage = storageAt(`postgres://postgres@127.0.0.1:${await freePort()}/test`)
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject(NOTHING_DONE)
    expect(performance.now() - start).toBeLessThan(AT_ONCE)
  })

  test('an unknown user and an unknown database are reported', async () => {
    const [stranger, elsewhere] = [new URL(server), new URL('/forgelet_not_there', server)]
    stranger.username = 'nobody_here'
    stranger.password = 'secret'

    await expect(issuesOn(storageAt(stranger.href), BOARD)).rejects.toThrow('the PostgreSQL server refuses the user')
    await expect(issuesOn(storageAt(elsewhere.href), BOARD)).rejects.toThrow('the database does not exist')
  })

  test.each(['nobody_here:secret@', ''])('a refusal of the server shows no secret: "%s"', async (user) => {
    const url = new URL(server)
    const storage = storageAt(`postgres://${user}${url.host}/forgelet_not_there`)
    const thrown = await Promise.resolve(storage.pinBoards.load(BOARD)).catch((error: unknown) => error)

    expect(thrown).toMatchObject(NOTHING_DONE)
    expect(String(thrown)).not.toMatch(/secret|nobody_here/)
  })

  test('a pool that the host has ended is unavailable', async () => {
    const database = await open()
    const pool = database.pool()
    const storage = database.storage(pool)
    await pin(storage, BOARD, '1')
    await pool.end()

    await expect(pin(storage, BOARD, '2')).rejects.toMatchObject(NOTHING_DONE)
  })

  test('a server that accepts no connection is unavailable, also for calls that wait for a full pool', async () => {
    const database = await open()
    const proxy = await silentProxy(database.url, 5432)
    onTestFinished(() => proxy.end())
    const limits = { max: 2, idleTimeoutMillis: 1, connectionTimeoutMillis: 7000 }
    const pool = database.pool({ connectionString: proxy.url, ...limits })
    const storage = database.storage(pool)
    await issuesOn(storage, BOARD)
    while (pool.totalCount > 0) await once(pool, 'remove')
    proxy.silence()
    const calls = Array.from({ length: 5 }, () => issuesOn(storage, BOARD))

    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: NOTHING_DONE })
    }
  })

  test('a pool whose connections the host keeps is waited for, and no longer than five seconds', async () => {
    const database = await open()
    const pool = database.pool({ max: 1 })
    const storage = database.storage(pool)
    const kept = await pool.connect()
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject(BUSY)
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
    kept.release()
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('nothing of the storage is left on the host’s pool when it is closed', async () => {
    const database = await open()
    const pool = database.pool()
    const [storage, other] = [database.storage(pool), database.storage(pool)]
    await Promise.all([issuesOn(storage, BOARD), issuesOn(other, BOARD)])
    const client = await pool.connect()
    await pause() // for one turn it is heard, whoever it is given to
    const left = () => [pool.listenerCount('error'), pool.listenerCount('acquire'), client.listenerCount('error')]
    const before = left()
    await storage.close()
    await issuesOn(other, BOARD)
    const between = left()
    await other.close()

    expect([before, between, left()]).toEqual([
      [1, 1, 0],
      [1, 1, 0],
      [0, 0, 0],
    ])
    client.release()
    await expect(pool.query('select 1')).resolves.toMatchObject({ rowCount: 1 })
  })

  test('a pool with an error listener of the host gets no other', async () => {
    const database = await open()
    const pool = database.pool()
    pool.on('error', () => undefined)
    await issuesOn(database.storage(pool), BOARD)

    expect(pool.listenerCount('error')).toBe(1)
  })
})

function storageAt(url: string) {
  const storage = postgresStorage(url)
  onTestFinished(() => storage.close())
  return storage
}

/** Ends every connection to the database but the one that does it. */
async function endConnections(database: HostDatabase): Promise<void> {
  const client = new pg.Client(database.url)
  client.on('error', () => undefined) // another may end it, who does the same
  await client.connect()
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await client.end()
}

/** The clients are told by now. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50))
}
