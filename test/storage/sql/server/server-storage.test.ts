import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { PgPool, PgPoolClient, PgQuery } from '../../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/testing.ts'
import type { PglitePool } from '../../../pglite.ts'
import { startPglite } from '../../../pglite.ts'

let server: PglitePool
let schemas = 0
beforeAll(async () => {
  server = await startPglite()
})
afterAll(() => server.end())

/** A pool that reports every statement before it is run. */
class WatchedPool implements PgPool {
  readonly statements: string[] = []
  readonly #pool: PgPool
  #fail: ((text: string) => boolean) | undefined

  constructor(pool: PgPool) {
    this.#pool = pool
  }

  /** From now on statements fail as those of a lost connection do. */
  failOn(isLost: ((text: string) => boolean) | undefined): void {
    this.#fail = isLost
  }

  async connect(): Promise<PgPoolClient> {
    const client = await this.#pool.connect()
    return { query: (query) => this.#listen(query, client), release: () => client.release() }
  }

  query(query: PgQuery) {
    return this.#listen(query, this.#pool)
  }

  async #listen(query: PgQuery, on: Pick<PgPool, 'query'>) {
    this.statements.push(query.text)
    if (this.#fail?.(query.text)) throw new Error('Connection terminated unexpectedly')
    return on.query(query)
  }
}

function newSchema(): string {
  schemas += 1
  return `s${schemas}`
}

async function migrated() {
  const pool = new WatchedPool(server)
  const schema = newSchema()
  const make = () => {
    const storage = postgresStorage(pool, { schema })
    onTestFinished(() => storage.close())
    return storage
  }
  await make().migrate()
  return { pool, storage: make() }
}

test('the tables are checked once, whichever call is first and however many there are', async () => {
  const { pool, storage } = await migrated()
  pool.statements.length = 0
  await Promise.all([pin(storage, BOARD, '1'), issuesOn(storage, BOARD), pin(storage, BOARD, '2')])
  await issuesOn(storage, BOARD)

  expect(pool.statements.filter((text) => text.includes('forgelet_ledger"'))).toHaveLength(1)
})

test('tables that are not there are looked for again by the next call', async () => {
  const { storage } = await migrated()
  const pool = new WatchedPool(server)
  const late = postgresStorage(pool, { schema: newSchema() })
  await expect(issuesOn(late, BOARD)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
  await late.migrate()

  expect(await issuesOn(late, BOARD)).toEqual([])
  await Promise.all([late.close(), storage.close()])
})

test('after a lost connection the tables are checked again', async () => {
  const { pool, storage } = await migrated()
  await pin(storage, BOARD, '1')
  pool.failOn((text) => text.includes('board_pins'))
  await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  pool.failOn(undefined)
  pool.statements.length = 0
  await issuesOn(storage, BOARD)

  expect(pool.statements.filter((text) => text.includes('forgelet_ledger"'))).toHaveLength(1)
})

test('withTransaction does not wait for a check of the tables that waits for its connection', async () => {
  const { pool, storage } = await migrated()
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
  const { storage } = await migrated()
  let commit = (): void => undefined
  const held = new Promise<void>((resolve) => {
    commit = resolve
  })
  const pinning = pin(storage, BOARD, '1', { beforeCommit: () => held })
  const closing = storage.close()
  const outcome = await Promise.race([closing.then(() => 'closed'), new Promise((next) => setTimeout(next, 50))])
  await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  commit()

  expect([outcome, await pinning, await closing, await storage.close()]).toEqual([undefined, 1, undefined, undefined])
})

test('a change whose caller gives up while it waits for a connection is not begun', async () => {
  const { pool, storage } = await migrated()
  await issuesOn(storage, BOARD)
  const kept = await pool.connect()
  const controller = new AbortController()
  const pinning = pin(storage, BOARD, '1', { signal: controller.signal })
  controller.abort(new Error('given up'))
  kept.release()

  await expect(pinning).rejects.toThrow('given up')
  expect(await issuesOn(storage, BOARD)).toEqual([])
})

test('a COMMIT that is lost is not tried again', async () => {
  const { pool, storage } = await migrated()
  pool.statements.length = 0
  pool.failOn((text) => text === 'commit')
  await expect(pin(storage, BOARD, '1')).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    details: { outcome: 'unknown' },
  })
  pool.failOn(undefined)
  await server.query({ text: 'rollback', values: [] }) // the connection is there still, as it would not be

  expect(pool.statements.filter((text) => text === 'commit')).toHaveLength(1)
})

test('savepoints are taken where the host’s code runs, and nowhere else', async () => {
  const { pool, storage } = await migrated()
  await issuesOn(storage, BOARD)
  const savepoints = () => pool.statements.splice(0).filter((text) => text.includes('savepoint')).length
  await pin(storage, BOARD, '1')
  const without = savepoints()
  await pin(storage, BOARD, '2', { beforeCommit: () => undefined })

  expect([without, savepoints()]).toEqual([0, 2])
})
