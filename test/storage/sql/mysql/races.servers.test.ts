import type { Connection, Pool } from 'mysql2/promise'
import { expect, test } from 'vitest'
import { isForgeError } from '../../../../src/schema/errors.ts'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { issuesOn, slugsHeldBy } from '../../../../src/testing/storage-contract/cases/contents.ts'
import {
  BOARD,
  block,
  define,
  grant,
  pin,
  retire,
} from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import type { HostDatabase } from './host-database.ts'
import { onMariadb } from './host-database.ts'

const THIRTY = Array.from({ length: 30 }, (_, index) => String(index + 1))

onMariadb((open) => {
  test('thirty who pin at once pin as many as may be', async () => {
    const database = await open()
    const storage = database.storage(database.pool({ connectionLimit: 30 }))
    await Promise.allSettled(THIRTY.map((issueId) => pin(storage, BOARD, issueId, { limit: 3 })))

    expect(await issuesOn(storage, BOARD)).toHaveLength(3)
  })

  test('thirty who pin at once through two pools pin as many as may be', async () => {
    const database = await open()
    const storages = [database.storage(database.pool()), database.storage()]
    await Promise.allSettled(
      THIRTY.map((issueId, index) => pin(given(storages[index % 2]), BOARD, issueId, { limit: 3 })),
    )

    expect(await issuesOn(given(storages[0]), BOARD)).toHaveLength(3)
  })

  test.each(['repeatable read', 'read committed', 'serializable'])(
    'thirty hosts who have read before, at %s, pin as many as may be',
    async (level) => {
      const database = await open()
      const storage = database.storage()
      await Promise.all(THIRTY.map((issueId) => pinAsHost({ database, storage, level, issueId })))

      expect(await issuesOn(storage, BOARD)).toHaveLength(3)
    },
  )

  test('changes of different things are made at the first attempt', async () => {
    const database = await open()
    const pool = database.pool()
    const begun = countBegins(pool)
    const storage = database.storage(pool)
    const ids = Array.from({ length: 100 }, (_, index) => String(index + 1))
    const outcomes = await Promise.all([
      ...ids.map((id) => pin(storage, { ...BOARD, repositoryId: id }, id)),
      ...ids.map((id) => block(storage, id, id)),
    ])

    expect([outcomes.length, begun()]).toEqual([200, 200])
  })

  test('the same badges are granted to many at once at the first attempt', async () => {
    const database = await open()
    const pool = database.pool()
    const begun = countBegins(pool)
    const storage = database.storage(pool)
    const slugs = ['a', 'b', 'c', 'd']
    for (const slug of slugs) await define(database.storage(), slug)
    await Promise.all(THIRTY.map((userId, index) => grant(storage, userId, index % 2 ? slugs : slugs.toReversed())))

    for (const userId of THIRTY) expect(await slugsHeldBy(storage, userId)).toHaveLength(4)
    expect(begun()).toBe(30)
  })

  test('users and organizations that go at once do not wait for each other in a circle', async () => {
    const database = await open()
    const pool = database.pool()
    const begun = countBegins(pool)
    const storage = database.storage(pool)
    const organizations = ['41', '42', '43']
    const before = database.storage()
    await Promise.all(THIRTY.flatMap((userId) => organizations.map((id) => block(before, id, userId))))
    await Promise.all([
      ...THIRTY.map((userId) => retire(storage, { thing: 'user', userId })),
      ...organizations.map((organizationId) => retire(storage, { thing: 'organization', organizationId })),
    ])

    expect(begun()).toBe(33)
  })

  test('a deadlock is tried again, and both changes are made', async () => {
    const database = await open()
    await database.run('create table host_rows (id bigint primary key, hits bigint) engine = InnoDB')
    await database.run('insert into host_rows values (1, 0), (2, 0)')
    const pool = database.pool()
    const begun = countBegins(pool)
    const storage = database.storage(pool)
    const met = meeting(2)
    const hit = (first: number, second: number) => ({
      beforeCommit: async (_: unknown, transaction: { query(sql: string): Promise<unknown> }) => {
        await transaction.query(`update host_rows set hits = hits + 1 where id = ${first}`)
        await met()
        await transaction.query(`update host_rows set hits = hits + 1 where id = ${second}`)
      },
    })
    await Promise.all([
      pin(storage, BOARD, '1', hit(1, 2)),
      pin(storage, { ...BOARD, repositoryId: '11' }, '2', hit(2, 1)),
    ])

    expect(begun()).toBe(3)
    expect(await database.run('select cast(hits as double) as hits from host_rows')).toEqual([{ hits: 2 }, { hits: 2 }])
  })

  test('a change is refused if a deadlock ends a statement that its beforeCommit does not wait for', async () => {
    const database = await open()
    await database.run('create table host_rows (id bigint primary key, hits bigint) engine = InnoDB')
    await database.run('insert into host_rows values (1, 0), (2, 0)')
    const storage = database.storage(database.pool())
    await pin(storage, BOARD, '1')
    const other = await database.connect()
    await other.beginTransaction()
    for (let id = 100; id < 200; id += 1) await other.query(`insert into host_rows values (${id}, 0)`) // it ends later
    await other.query('update host_rows set hits = 1 where id = 2')
    let waiting: Promise<unknown> | undefined
    const beforeCommit = async (_: unknown, transaction: { query(sql: string): Promise<unknown> }): Promise<void> => {
      await transaction.query('update host_rows set hits = 1 where id = 1')
      waiting = other.query('update host_rows set hits = 1 where id = 1')
      // Sent behind the next statement of the change.
      void transaction
        .query('select 1')
        .then(() => transaction.query('update host_rows set hits = 1 where id = 2').catch(() => undefined))
    }

    await expect(pin(storage, BOARD, '2', { beforeCommit })).rejects.toThrow('beforeCommit must wait')
    await waiting
    await other.rollback()
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('a lock that is not given is waited for five seconds, and then the storage is busy', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const other = await database.connect()
    await other.beginTransaction()
    await other.query('select * from forgelet_heads for update')
    const start = performance.now()

    await expect(pin(storage, BOARD, '2')).rejects.toMatchObject({ code: 'STORAGE_BUSY', details: { retry: 'call' } })
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
    await other.rollback()
    await pin(storage, BOARD, '2')
  })

  test('a table that is locked is waited for no longer than five seconds', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const other = await database.connect()
    await other.query('lock tables forgelet_board_pins write')
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
  })
})

interface HostPin {
  readonly database: HostDatabase
  readonly storage: ForgeStorage<Connection>
  readonly level: string
  readonly issueId: string
}

/** Reads, and pins behind that, in a transaction of the host's; again as long as the storage asks for it. */
async function pinAsHost({ database, storage, level, issueId }: HostPin): Promise<void> {
  const transaction = await database.connect()
  await transaction.query(`set session transaction isolation level ${level}`)
  for (;;) {
    await transaction.beginTransaction()
    await transaction.query('select count(*) from forgelet_board_pins')
    try {
      await pin(storage, BOARD, issueId, { transaction, limit: 3 })
      return await transaction.commit()
    } catch (error) {
      await transaction.rollback()
      if (!isForgeError(error, 'STORAGE_BUSY')) return expect(error).toMatchObject({ code: 'PIN_LIMIT_REACHED' })
    }
  }
}

/** Counts the transactions that are begun on the connections that a pool makes from now on. */
function countBegins(pool: Pool): () => number {
  let count = 0
  const watch = (connection: object): void => {
    const query = Reflect.get(connection, 'query')
    Reflect.set(connection, 'query', (...args: unknown[]) => {
      if (textOf(args[0]).includes('start transaction')) count += 1
      return Reflect.apply(query, connection, args)
    })
  }
  pool.on('connection', watch)
  return () => count
}

/** Opens when so many have come; whoever comes later goes through. */
function meeting(size: number): () => Promise<void> {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let count = 0
  return () => {
    count += 1
    if (count >= size) open()
    return opened
  }
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('there is none')
  return value
}

function textOf(query: unknown): string {
  if (typeof query === 'object' && query !== null && 'sql' in query) return String(query.sql)
  return String(query)
}
