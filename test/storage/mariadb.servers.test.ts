import type { Connection } from 'mysql2/promise'
import { expect, test } from 'vitest'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { define, grant, slugsHeldBy } from '../../src/testing/storage-contract/samples/badges.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import type { MariadbHost } from './driver-hosts.ts'
import { onMariadb } from './driver-hosts.ts'

const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }

onMariadb((open) => {
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
    await expect(enter(withCallbacks)).rejects.toThrow(/pass connection\.promise\(\)/)
  })

  test('a transaction that can only read is refused', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.connect()
    await transaction.query('start transaction read only')

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toThrow(/is read-only/)
  })

  test('a transaction that a deadlock has ended is run again as a whole, and nothing is written behind its end', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database)
    await transaction.query('insert into host_issues values (1, 0)')
    await pin(storage, { ...BOARD, repositoryId: '11' }, '1', { transaction })

    await expect(deadlocked(database, storage, transaction)).rejects.toMatchObject(RUN_AGAIN)
    await expect(pin(storage, BOARD, '5', { transaction })).rejects.toThrow(TypeError)

    await transaction.rollback()
    await transaction.beginTransaction()
    await pin(storage, BOARD, '6', { transaction })
    await transaction.commit()
    expect(await issuesOn(storage, BOARD)).toEqual(['6'])
    expect(await issuesOn(storage, { ...BOARD, repositoryId: '11' })).toEqual([])
  })

  test('a snapshot of the host’s that is older than a change sees it, or is run again', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await begun(database, 'innodb_snapshot_isolation = 1')
    await transaction.query('select * from host_issues')
    await pin(storage, BOARD, '1')

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(RUN_AGAIN)
  })

  test('a snapshot of the host’s that is older than a table that was rebuilt is run again', async () => {
    const database = await open()
    const transaction = await begun(database)
    await transaction.query('select * from host_issues')
    await database.run('alter table forgelet_board_pins engine = InnoDB')

    await expect(pin(database.storage(), BOARD, '2', { transaction })).rejects.toMatchObject(RUN_AGAIN)
  })
})

/** A connection of the host's inside a transaction, beside a table of his. */
async function begun(database: MariadbHost, setting = 'autocommit = 1'): Promise<Connection> {
  await database.run('create table if not exists host_issues (id bigint primary key, number bigint) engine = InnoDB')
  const connection = await database.connect()
  await connection.query(`set ${setting}`)
  await connection.beginTransaction()
  return connection
}

/** Has the transaction pin where another waits for it, who has done more: it is the one that ends. */
async function deadlocked(
  database: MariadbHost,
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

onMariadb((open) => {
  test('the host joins its tables with the views, by index', async () => {
    const database = await open()
    const storage = database.storage()
    await define(storage, 'night-owl')
    await grant(storage, '9007199254740993', ['night-owl'])
    await pin(storage, BOARD, '9007199254740993')
    await database.run('create table host_users (id bigint primary key, name varchar(20)) engine = InnoDB')
    await database.run("insert into host_users values (9007199254740992, 'one less'), (9007199254740993, 'owl')")

    const sql =
      'select name, slug, kind from host_users inner join forgelet_badge_grants on user_id = id ' +
      'inner join forgelet_pins on issue_id = id where id = 9007199254740993'
    expect(await database.run(sql)).toEqual([{ name: 'owl', slug: 'night-owl', kind: 'issue' }])
    const plan = await database.run(`explain ${sql}`)
    expect(plan.map(({ type }) => type)).not.toContain('ALL')
  })

  test('a key that is written out keeps case and blanks apart in plain SQL too', async () => {
    const database = await open()
    const storage = database.storage()
    for (const slug of ['night-owl', 'Night-Owl', 'night-owl ']) await define(storage, slug)

    expect(await database.run("select slug from forgelet_badges where slug = 'night-owl'")).toEqual([
      { slug: 'night-owl' },
    ])
  })

  test('a connection that emits more than one error does not end the process', async () => {
    const database = await open()
    const pool = database.pool()
    const connections: { emit(event: string, error: Error): boolean }[] = []
    pool.on('connection', (connection) => void connections.push(connection))
    await issuesOn(database.storage(pool), BOARD)

    expect(connections).toHaveLength(1)
    for (const connection of connections) {
      for (const message of ['one', 'another']) expect(connection.emit('error', new Error(message))).toBe(true)
    }
  })
})
