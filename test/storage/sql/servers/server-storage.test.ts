import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { PgPool, PgPoolClient } from '../../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { deferred } from '../../../deferred.ts'
import type { PglitePool } from '../../../pglite.ts'
import { startPglite } from '../../../pglite.ts'

// A pool with one connection: what must not wait for another shows here.
let pool: PglitePool
beforeAll(async () => {
  pool = await startPglite()
})
afterAll(() => pool.end())

let schemas = 0

/** A storage on tables of its own, over the pool or what stands before it. */
async function migrated(over: PgPool = pool) {
  schemas += 1
  const open = (on: PgPool) => {
    const storage = postgresStorage(on, { schema: `s${schemas}` })
    onTestFinished(() => storage.close())
    return storage
  }
  await open(pool).migrate()
  return open(over)
}

/** The pool, on whose connections a statement is answered so. */
function answering(answer: (client: PgPoolClient, query: Query) => ReturnType<PgPoolClient['query']>): PgPool {
  return {
    query: (query) => pool.query(query),
    async connect() {
      const client = await pool.connect()
      return { release: () => client.release(), query: async (query) => answer(client, query) }
    },
  }
}

type Query = Parameters<PgPoolClient['query']>[0]

test('tables that are not there are looked for again by the next call', async () => {
  const late = postgresStorage(pool, { schema: 'late' })
  onTestFinished(() => late.close())
  await expect(issuesOn(late, BOARD)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
  await late.migrate()

  expect(await issuesOn(late, BOARD)).toEqual([])
})

test('withTransaction does not wait for a check of the tables that waits for its connection', async () => {
  const storage = await migrated()
  const transaction = await pool.connect()
  await transaction.query({ text: 'begin', values: [] })
  const reading = issuesOn(storage, BOARD)
  const pinning = pin(storage, BOARD, '1', { transaction })
  const outcome = await Promise.race([pinning, new Promise((next) => setTimeout(next, 1000))])
  await transaction.query({ text: 'commit', values: [] })
  transaction.release()

  expect([outcome, await reading]).toEqual([1, ['1']])
})

test('closing waits for what was called before, and what is called then is refused', async () => {
  const storage = await migrated()
  const held = deferred()
  const pinning = pin(storage, BOARD, '1', { beforeCommit: () => held.promise })
  const closing = storage.close()
  const outcome = await Promise.race([closing.then(() => 'closed'), new Promise((next) => setTimeout(next, 50))])
  await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  held.resolve()

  expect([outcome, await pinning, await closing, await storage.close()]).toEqual([undefined, 1, undefined, undefined])
})

test('a change whose caller gives up while it waits for a connection is not begun', async () => {
  const storage = await migrated()
  await issuesOn(storage, BOARD)
  const kept = await pool.connect()
  const controller = new AbortController()
  const pinning = pin(storage, BOARD, '1', { signal: controller.signal })
  controller.abort(new Error('given up'))
  kept.release()

  await expect(pinning).rejects.toThrow('given up')
  expect(await issuesOn(storage, BOARD)).toEqual([])
})

test('a proxy that keeps no prepared statements is noticed, and none are prepared from then on', async () => {
  const refused: string[] = []
  const proxied = answering((client, query) => {
    if (query.name === undefined) return client.query(query)
    refused.push(query.name)
    throw Object.assign(new Error('prepared statement does not exist'), { code: '26000' })
  })
  const storage = await migrated(proxied)
  await pin(storage, BOARD, '1')

  expect(refused).toEqual([expect.stringMatching(/^forgelet_[0-9a-f]{16}$/)])
  expect(await issuesOn(storage, BOARD)).toEqual(['1'])
})

/** A pool whose server answers the statement, once it counts, with an abort, as a node of a Galera cluster may. */
function abortingPool(
  statement: string,
  counts: () => boolean,
): { readonly proxied: PgPool; readonly aborted: readonly string[] } {
  const aborted: string[] = []
  const proxied = answering(async (client, query) => {
    const answer = await client.query(query)
    if (aborted.length > 0 || query.text !== statement || !counts()) return answer
    aborted.push(query.text)
    throw Object.assign(new Error('deadlock found'), { code: '40001' })
  })
  return { proxied, aborted }
}

test('a change whose ROLLBACK says that the server has aborted it is decided again', async () => {
  let attempts = 0
  const { proxied, aborted } = abortingPool('rollback', () => attempts > 0)
  const storage = await migrated(proxied)
  const beforeCommit = (): void => {
    attempts += 1
    throw new Error('refused by the host')
  }

  await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toThrow('refused by the host')
  expect([attempts, aborted]).toEqual([2, ['rollback']])
})

test('a change that the server aborts while the host has its transaction is decided again', async () => {
  let attempts = 0
  const { proxied, aborted } = abortingPool('release savepoint forgelet_lent', () => attempts > 0)
  const storage = await migrated(proxied)
  const beforeCommit = (): void => {
    attempts += 1
  }

  expect(await pin(storage, BOARD, '1', { beforeCommit })).toBe(1)
  expect([attempts, aborted]).toEqual([2, ['release savepoint forgelet_lent']])
})
