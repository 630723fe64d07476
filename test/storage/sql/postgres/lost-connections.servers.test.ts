import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { silentProxy } from '../server/silent-proxy.ts'
import { onPostgres } from './host-database.ts'

const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }

onPostgres((open, server) => {
  test.each(['nobody_here:secret@', ''])('a refusal of the server shows no secret: "%s"', async (user) => {
    const url = new URL(server)
    const storage = storageAt(`postgres://${user}${url.host}/forgelet_not_there`)
    const thrown = await Promise.resolve(storage.pinBoards.load(BOARD)).catch((error: unknown) => error)

    expect(thrown).toMatchObject(NOTHING_DONE)
    expect(String(thrown)).not.toMatch(/secret|nobody_here/)
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

  test('nothing of the storage is left on the host’s pool when it is closed', async () => {
    const database = await open()
    const pool = database.pool()
    const [storage, other] = [database.storage(pool), database.storage(pool)]
    await Promise.all([issuesOn(storage, BOARD), issuesOn(other, BOARD)])
    const client = await pool.connect()
    await pause() // for one turn its errors are handled, whichever caller has it
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

/** The clients have received it by now. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50))
}
