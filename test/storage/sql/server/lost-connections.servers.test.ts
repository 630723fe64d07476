import { expect, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { AT_ONCE, FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import { cutAtCommit, freePort } from './cut-at-commit.ts'
import type { DriverConnection } from './server-hosts.ts'
import { onEachServer } from './server-hosts.ts'

const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }
const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }

// Only the storage listens for the errors of these pools and clients: unhandled, they would end the process of the tests.
onEachServer((open) => {
  test.each(['the host’s pool', 'a pool of our own'])(
    'when idle connections are ended, the next call on %s works',
    async (kind) => {
      const database = await open()
      const storage = database.storage(kind === 'the host’s pool' ? database.pool() : database.url)
      await Promise.all(['1', '2', '3'].map((issueId) => pin(storage, BOARD, issueId)))
      await database.endConnections()
      await database.settled()

      expect(await issuesOn(storage, BOARD)).toHaveLength(3)
      await pin(storage, BOARD, '4')
    },
  )

  test('when a connection is ended in the middle of a change, nothing is done, and the next call works', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const beforeCommit = () => database.endConnections()

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
    await pin(storage, BOARD, '2')
    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('when a connection is ended under the host’s own statement, the storage is unavailable', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const beforeCommit = async (_: unknown, transaction: DriverConnection) => {
      await database.endConnections()
      await transaction.query('select 1')
    }

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
  })

  test('what fails elsewhere in the host’s own code is his', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const error = Object.assign(new Error('his own server is away'), { code: 'ECONNREFUSED' })

    await expect(pin(storage, BOARD, '1', { beforeCommit: () => Promise.reject(error) })).rejects.toBe(error)
  })

  test('when connections are ended again and again, every call ends, and what it answered is so', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    let busy = true
    const ending = (async () => {
      while (busy) await database.endConnections()
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

  test('when the connection of a host’s transaction is ended, nothing is done', async () => {
    const database = await open()
    const storage = database.storage()
    const host = await database.connect()
    const transaction = host.connection
    await host.begin()
    await pin(storage, BOARD, '1', { transaction })
    await database.endConnections()

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(NOTHING_DONE)
    expect(await issuesOn(database.storage(), BOARD)).toEqual([])
  })

  test.each([
    ['before it came to the server', 'before', []],
    ['after it came to the server', 'after', ['1']],
  ] as const)('when the connection is lost %s, the outcome of a COMMIT is unknown', async (_, moment, issues) => {
    const database = await open()
    const storage = database.storage(await cutAtCommit(database.url, moment, database.commit))

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject(UNKNOWN)
    expect(await issuesOn(database.storage(), BOARD)).toEqual(issues)
  })

  test('a server that refuses connections is unavailable at once', async () => {
    const database = await open()
    const nowhere = new URL(database.url)
    nowhere.port = String(await freePort())
    const storage = database.storage(nowhere.href)
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject(NOTHING_DONE)
    expect(performance.now() - start).toBeLessThan(AT_ONCE)
  })

  test('an unknown user and an unknown database are reported', async () => {
    const { url, refusals, storage } = await open()
    const [stranger, elsewhere] = [new URL(url), new URL('/forgelet_not_there', url)]
    stranger.username = 'nobody_here'
    stranger.password = 'secret'

    await expect(issuesOn(storage(stranger.href), BOARD)).rejects.toThrow(refusals.user)
    await expect(issuesOn(storage(elsewhere.href), BOARD)).rejects.toThrow(refusals.database)
  })

  test('a pool that the host has ended is unavailable', async () => {
    const database = await open()
    const pool = database.pool()
    const storage = database.storage(pool)
    await pin(storage, BOARD, '1')
    await pool.end()

    await expect(pin(storage, BOARD, '2')).rejects.toMatchObject(NOTHING_DONE)
  })

  test('a pool whose connections the host keeps is waited for, and no longer than five seconds', async () => {
    const database = await open()
    const pool = database.pool({ max: 1 })
    const storage = database.storage(pool)
    const release = await pool.take()
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject(BUSY)
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
    release()
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })
})
