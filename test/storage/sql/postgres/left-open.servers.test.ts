import type pg from 'pg'
import { expect, test } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import type { PgPool } from '../../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { blocksOf, issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import type { HostDatabase } from './host-database.ts'
import { onPostgres } from './host-database.ts'

const OTHER_BOARD = { ...BOARD, repositoryId: '11' }

type HostClient = pg.Client | pg.PoolClient

/** What the storage does next on the connection, and what it answers. */
const NEXT: Readonly<Record<string, readonly [(storage: ForgeStorage<HostClient>) => Promise<unknown>, unknown]>> = {
  'a read': [(storage) => issuesOn(storage, BOARD), []],
  'a change': [(storage) => pin(storage, OTHER_BOARD, '9'), 1],
  'a snapshot': [(storage) => blocksOf(storage, '20'), []],
}

/** What the host leaves open. */
const LEFT: readonly string[] = [
  'begin',
  'begin isolation level serializable',
  'begin read only',
  'begin; insert into host_notes values (1)',
  'begin isolation level repeatable read; insert into host_notes values (1); select 1',
]

// What a host left open on a pooled connection. The second of the storages cannot see the status that pg knows.
onPostgres((open) => {
  const rounds = Object.entries(NEXT).flatMap(([name, [next, answer]]) =>
    LEFT.map((left) => [name, left, next, answer] as const),
  )

  test.each(rounds)('before %s, "%s" is rolled back and reported once', async (_, left, next, answer) => {
    for (const storageOn of [known, unknown]) {
      const database = await open()
      await database.run('create table host_notes (id int)')
      const pool = database.pool({ max: 1 })
      const storage = storageOn(database, pool)
      const warnings: string[] = []
      storage.onWarning((message) => warnings.push(message))
      await issuesOn(storage, BOARD)
      await leave(pool, left)

      expect(await next(storage)).toEqual(answer)
      await leave(pool, left)
      await issuesOn(storage, BOARD)
      expect(await database.run('select id from host_notes')).toEqual([])
      expect(warnings).toEqual([expect.stringContaining('left a transaction open')])
    }
  })

  test.each(Object.entries(NEXT))(
    'before %s, a transaction that has failed is rolled back',
    async (_, [next, answer]) => {
      for (const storageOn of [known, unknown]) {
        const database = await open()
        const pool = database.pool({ max: 1 })
        const storage = storageOn(database, pool)
        await issuesOn(storage, BOARD)
        await expect(leave(pool, 'begin; select 1 / 0')).rejects.toThrow('division by zero')

        expect(await next(storage)).toEqual(answer)
      }
    },
  )

  test('a pin in a transaction that was left open is neither read nor kept', async () => {
    const database = await open()
    const pool = database.pool({ max: 1 })
    const storage = known(database, pool)
    const client = await pool.connect()
    await client.query('begin')
    await pin(storage, BOARD, '1', { transaction: client })
    client.release()

    expect(await issuesOn(storage, BOARD)).toEqual([])
    expect(await pin(storage, BOARD, '2')).toBe(1)
  })

  test('a pool on which nothing is left open is not reported, and the server logs no warning', async () => {
    const database = await open()
    for (const storageOn of [known, unknown]) {
      const pool = database.pool({ max: 1 })
      const notices: unknown[] = []
      pool.on('connect', (client) => void client.on('notice', (notice) => notices.push(notice)))
      const storage = storageOn(database, pool)
      const warnings: string[] = []
      storage.onWarning((message) => warnings.push(message))
      for (const [next] of Object.values(NEXT)) await next(storage)

      expect([warnings, notices]).toEqual([[], []])
    }
  })

  test('a change is refused if a statement fails that its beforeCommit does not wait for', async () => {
    const database = await open()
    const storage = database.storage()
    const beforeCommit = (_: unknown, client: HostClient): void => {
      // Sent behind the last statement before COMMIT: PostgreSQL answers the COMMIT with ROLLBACK, and no error.
      void client.query('select 1').then(() => client.query('select 1 / 0').catch(() => undefined))
    }

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toThrow('beforeCommit and prepare must wait')
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })
})

function known(database: HostDatabase, pool: pg.Pool): ForgeStorage<HostClient> {
  return database.storage(pool)
}

/** Over clients without a status, as in older versions of pg. */
function unknown(database: HostDatabase, pool: pg.Pool): ForgeStorage<HostClient> {
  const older: PgPool = {
    query: (query) => pool.query(query),
    async connect() {
      const client = await pool.connect()
      return { query: (query) => client.query(query), release: (destroy) => client.release(destroy) }
    },
  }
  return postgresStorage<HostClient>(older, { schema: database.schema })
}

async function leave(pool: pg.Pool, text: string): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query(text)
  } finally {
    client.release()
  }
}
