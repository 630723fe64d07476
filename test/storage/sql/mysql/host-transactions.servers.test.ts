import type { Connection } from 'mysql2/promise'
import { expect, test } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { blockedBy, issuesOn, slugsHeldBy } from '../../../../src/testing/storage-contract/cases/contents.ts'
import {
  BOARD,
  block,
  change,
  define,
  grant,
  pin,
  retire,
} from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { GrowingLists } from '../growing-lists.ts'
import { watch } from '../server/watched-connections.ts'
import type { HostDatabase } from './host-database.ts'
import { onMariadb } from './host-database.ts'

const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }

onMariadb((open) => {
  test('what is done in a transaction goes with it', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database)
    await pin(storage, BOARD, '1', { transaction })
    await block(storage, '20', '30', { transaction })
    await transaction.rollback()

    expect([await issuesOn(storage, BOARD), await blockedBy(storage, '20')]).toEqual([[], []])
  })

  test('a change of many statements that has ended sends none after the host has rolled back', async () => {
    const database = await open()
    const storage = database.storage()
    const slugs = Array.from({ length: 40 }, (_, n) => `badge-${n}`)
    for (const slug of slugs) await define(storage, slug)
    const events = async () => (await database.run('select id from forgelet_events')).length
    const before = await events()
    const other = await database.connect()
    await other.query('lock tables forgelet_events read')
    const transaction = await begun(database)
    await expect(grant(storage, '5', slugs, { transaction })).rejects.toMatchObject(RUN_AGAIN)
    const rolledBack = transaction.rollback()
    await other.query('unlock tables')
    await rolledBack
    await transaction.query('select 1') // answered after everything that was sent before

    expect([await events(), await slugsHeldBy(storage, '5')]).toEqual([before, []])
  })

  test('a statement of the host beside a change that loses the transaction leaves nothing of the change', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database)
    await database.run('insert into host_issues values (1, 0), (2, 0)')
    await transaction.query('update host_issues set number = 1 where id = 1')
    const other = await database.connect()
    await other.beginTransaction() // it has changed more rows, so a deadlock ends the other transaction
    const rows = Array.from({ length: 100 }, (_, n) => `(${n + 10}, 0)`)
    await other.query(`insert into host_issues values ${rows.join()}`)
    await other.query('update host_issues set number = 2 where id = 2')
    const waits = other.query('update host_issues set number = 2 where id = 1')
    await untilOneWaits(database)
    let beside: Promise<unknown> | undefined
    afterEach(transaction, /forgelet_heads/, () => {
      beside ??= transaction.query('update host_issues set number = 1 where id = 2').catch((error: unknown) => error)
    })
    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    expect(await beside).toMatchObject({ errno: 1213 })
    await transaction.rollback()
    await waits
    await other.rollback()

    expect([await issuesOn(storage, BOARD), await database.run('select id from forgelet_events')]).toEqual([[], []])
  })

  test('a change that is refused leaves the rest of the transaction', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database)
    await transaction.query('insert into host_issues values (1, 0)')
    await pin(storage, BOARD, '1', { transaction })
    await expect(pin(storage, BOARD, '2', { transaction, limit: 1 })).rejects.toMatchObject({
      code: 'PIN_LIMIT_REACHED',
    })
    await transaction.commit()

    expect([await issuesOn(storage, BOARD), (await database.run('select id from host_issues')).length]).toEqual([
      ['1'],
      1,
    ])
  })

  test('a page and its total come from one snapshot at READ COMMITTED, whatever others commit between two statements', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database, 'session transaction isolation level read committed')

    await new GrowingLists(storage).expectWholePages(transaction, (grow) => watch(transaction, grow))
  })

  test('a connection without a transaction is refused, with what to do', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.connect()

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toThrow(/not inside a transaction: begin one/)
    await expect(storage.checkTransaction(transaction)).rejects.toThrow(TypeError)
  })

  test('on a connection that commits nothing by itself there is always a transaction', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.connect()
    await transaction.query('set autocommit = 0')
    await pin(storage, BOARD, '1', { transaction })
    const before = await issuesOn(storage, BOARD)
    await transaction.commit()

    expect([before, await issuesOn(storage, BOARD)]).toEqual([[], ['1']])
  })

  test('neither a pool nor a connection with callbacks is a transaction', async () => {
    const database = await open()
    const storage = database.storage()
    const withCallbacks: unknown = Reflect.get(await database.connect(), 'connection')
    const enter = (transaction: unknown) => Reflect.apply(storage.checkTransaction, storage, [transaction])

    await expect(enter(database.pool())).rejects.toThrow(/must be a connection of mysql2\/promise/)
    await expect(enter(withCallbacks)).rejects.toThrow(/connection\.promise\(\)/)
  })

  test('a transaction on another database is refused', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const transaction = await begun(database)
    await transaction.query('use information_schema')

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toThrow(/on another database/)
  })

  test('a transaction that can only read is refused', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.connect()
    await transaction.query('start transaction read only')

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toThrow(/is read-only/)
  })

  test.each([
    ['LATIN1', /latin1.*utf8mb4/],
    ['UTF8', /utf8mb3.*utf8mb4/],
  ])('a connection that speaks %s is refused, the host’s too', async (charset, reported) => {
    const database = await open()
    const storage = database.storage(database.pool({ charset }))
    const transaction = await database.connect({ charset })
    await transaction.beginTransaction()

    await expect(issuesOn(storage, BOARD)).rejects.toThrow(TypeError)
    await expect(issuesOn(storage, BOARD)).rejects.toThrow(reported)
    await expect(pin(database.storage(), BOARD, '1', { transaction })).rejects.toThrow(reported)
  })

  test('a connection that takes empty texts for null is refused', async () => {
    const database = await open()
    const pool = database.pool()
    pool.on('connection', (connection) => void connection.query("set sql_mode = 'EMPTY_STRING_IS_NULL'"))

    await expect(issuesOn(database.storage(pool), BOARD)).rejects.toThrow(/EMPTY_STRING_IS_NULL from its sql_mode/)
  })

  test('a connection without a database is refused', async () => {
    const database = await open()

    const pool = database.pool({ uri: new URL('/', database.url).href })

    await expect(issuesOn(database.storage(pool), BOARD)).rejects.toThrow(/has no database/)
  })

  test.each(['autocommit = 1', 'autocommit = 0'])(
    'a transaction that a deadlock has ended is run again as a whole, with %s',
    async (setting) => {
      const database = await open()
      const storage = database.storage()
      const transaction = await begun(database, setting)
      await transaction.query('insert into host_issues values (1, 0)')
      await pin(storage, { ...BOARD, repositoryId: '11' }, '1', { transaction })

      await expect(deadlocked(database, storage, transaction)).rejects.toMatchObject(RUN_AGAIN)
      await expect(pin(storage, BOARD, '5', { transaction })).rejects.toMatchObject(RUN_AGAIN)
      await transaction.query('select id from host_issues')
      await expect(pin(storage, BOARD, '5', { transaction })).rejects.toMatchObject(RUN_AGAIN)

      await transaction.rollback()
      await transaction.beginTransaction()
      await pin(storage, BOARD, '6', { transaction })
      await transaction.commit()
      expect(await issuesOn(storage, BOARD)).toEqual(['6'])
      expect(await issuesOn(storage, { ...BOARD, repositoryId: '11' })).toEqual([])
    },
  )

  test('a lock that the host waited for too long is his to run again, and the rest of his transaction is there', async () => {
    const database = await open()
    const storage = database.storage()
    const other = await begun(database, 'session transaction isolation level read committed')
    await pin(storage, BOARD, '1', { transaction: other })
    const transaction = await begun(database, 'innodb_lock_wait_timeout = 1')
    await transaction.query('insert into host_issues values (3, 3)')

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    await other.rollback()
    await transaction.commit()
    expect(await database.run('select id from host_issues')).toMatchObject([{ id: 3 }])
  })

  test('a snapshot of the host’s that is older than a change sees it, or is run again', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database, 'innodb_snapshot_isolation = 1')
    await transaction.query('select * from host_issues')
    await pin(storage, BOARD, '1')

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(RUN_AGAIN)
  })

  test('a user is retired whole by a transaction that began to read before he was blocked', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database)
    await transaction.query('select * from host_issues')
    for (const organizationId of ['20', '21']) await block(storage, organizationId, '30')
    await retire(storage, { thing: 'user', userId: '30' }, { transaction })
    await transaction.commit()

    expect([await blockedBy(storage, '20'), await blockedBy(storage, '21')]).toEqual([[], []])
  })

  test('a badge that is not there cannot be granted, though the host has switched foreign keys off', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database, 'foreign_key_checks = 0')
    const badge = { id: '99', slug: 'a', description: '', imageUrl: '' }
    const granting = change(
      storage.userBadges,
      { userId: '30', slugs: ['a'] },
      (state, grantedAt) => ({
        state: { ...state, held: [{ badge, grantedAt, grantedBy: null }] },
        events: [],
        result: undefined,
      }),
      { transaction },
    )

    await expect(granting).rejects.toMatchObject(RUN_AGAIN)
    expect(await database.run('select * from forgelet_user_grants')).toEqual([])
  })
})

/** A connection of the host's inside a transaction, beside a table of his. */
async function begun(database: HostDatabase, setting = 'autocommit = 1'): Promise<Connection> {
  await database.run('create table if not exists host_issues (id bigint primary key, number bigint) engine = InnoDB')
  const connection = await database.connect()
  await connection.query(`set ${setting}`)
  await connection.beginTransaction()
  return connection
}

/** Has the transaction pin where another waits for it, who has done more: it is the one that ends. */
async function deadlocked(
  database: HostDatabase,
  storage: ForgeStorage<Connection>,
  transaction: Connection,
): Promise<void> {
  const other = await begun(database)
  for (let id = 100; id < 200; id += 1) await other.query(`insert into host_issues values (${id}, 0)`)
  await other.query("insert into forgelet_heads values ('issueBoard', '10', 0, 0, 0, 0, 1)")
  const pinning = pin(storage, BOARD, '2', { transaction })
  const waiting = other.query(
    "update forgelet_heads set version = version + 1 where scope = 'issueBoard' and `key` = '11'",
  )
  await Promise.allSettled([pinning, waiting])
  await other.rollback()
  await pinning
}

/** Does something right after each statement like this is sent. */
function afterEach(connection: Connection, pattern: RegExp, act: () => void): void {
  const execute: unknown = Reflect.get(connection, 'execute')
  if (typeof execute !== 'function') throw new TypeError('a connection runs statements')

  Reflect.set(connection, 'execute', (...values: readonly unknown[]) => {
    const answer: unknown = Reflect.apply(execute, connection, values)
    if (pattern.test(JSON.stringify(values[0]))) act()
    return answer
  })
}

/** Waits until a transaction on the server waits for a lock. The server renews its list every 100 ms. */
async function untilOneWaits(database: HostDatabase): Promise<void> {
  const waiting = "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
  while ((await database.run(waiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 150))
}
