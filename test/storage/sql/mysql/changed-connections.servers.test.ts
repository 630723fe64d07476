import type { Connection, Pool } from 'mysql2/promise'
import { expect, onTestFinished, test } from 'vitest'
import { blocksOf, issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { listenerWarnings } from '../listener-warnings.ts'
import { onMariadb } from './host-database.ts'

// What a host does to a pooled connection after the storage has used it.
onMariadb((open) => {
  test('reads see what others commit after the host sets autocommit = 0, and leave no transaction open', async () => {
    const database = await open()
    const pool = database.pool({ connectionLimit: 1 })
    const [storage, others] = [database.storage(pool), database.storage()]
    await issuesOn(storage, BOARD)
    await pool.query('set autocommit = 0')
    await issuesOn(storage, BOARD)
    await pin(others, BOARD, '1')

    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
    expect(await openTransactions(pool)).toBe(0)
  })

  test('the same is so where a beforeCommit sets autocommit = 0 on a connection of our own pool', async () => {
    const database = await open()
    const [storage, others] = [database.storage(`${database.url}?connectionLimit=1`), database.storage()]
    const beforeCommit = async (_: unknown, transaction: Connection) => void (await setAutocommitOff(transaction))
    await pin(storage, BOARD, '1', { beforeCommit })
    await issuesOn(storage, BOARD)
    await pin(others, BOARD, '2')

    expect(await issuesOn(storage, BOARD)).toEqual(['1', '2'])
  })

  test.each([
    ['set names latin1', /uses latin1/],
    ["set sql_mode = 'EMPTY_STRING_IS_NULL'", /EMPTY_STRING_IS_NULL/],
  ])('a connection that is no longer fit for use is refused: %s', async (statement, message) => {
    const database = await open()
    const pool = database.pool({ connectionLimit: 1 })
    const storage = database.storage(pool)
    await pin(storage, BOARD, '1')
    await pool.query(statement)

    await expect(pin(storage, BOARD, '2')).rejects.toThrow(message)
    await expect(issuesOn(storage, BOARD)).rejects.toThrow(message)
    await expect(blocksOf(storage, '20')).rejects.toThrow(TypeError)
    expect(await issuesOn(database.storage(), BOARD)).toEqual(['1'])
  })

  test('a connection on which the host changed the database is refused, until it is changed back', async () => {
    const database = await open()
    const pool = database.pool({ connectionLimit: 1 })
    const storage = database.storage(pool)
    await pin(storage, BOARD, '1')
    await pool.query('use information_schema')
    await expect(pin(storage, BOARD, '2')).rejects.toThrow(/another database/)
    await expect(blocksOf(storage, '20')).rejects.toThrow(TypeError)
    await pool.query(`use ${database.name}`)

    expect(await pin(storage, BOARD, '2')).toBe(2)
  })

  test('a pool whose connections have no database is refused at once by every call', async () => {
    const database = await open()
    const url = new URL(database.url)
    url.pathname = '/'
    const storage = database.storage(database.pool({ uri: url.href }))

    for (const call of [() => storage.migrate(), () => storage.schemaStatus(), () => pin(storage, BOARD, '1')]) {
      await expect(call()).rejects.toThrow(/has no database/)
    }
  })

  test.each(['read', 'change', 'snapshot'] as const)(
    'a transaction that the host left open is rolled back before a %s, and reported once',
    async (next) => {
      const database = await open()
      await database.run('create table host_notes (id int primary key)')
      const pool = database.pool({ connectionLimit: 1 })
      const storage = database.storage(pool)
      const warnings: string[] = []
      storage.onWarning((message) => warnings.push(message))
      for (const id of [1, 2]) {
        await pool.query('start transaction')
        await pool.query(`insert into host_notes values (${id})`)
        await pin(storage, BOARD, String(id), { transaction: await onlyConnection(pool) })
        if (next === 'read') expect(await issuesOn(storage, BOARD)).toEqual([])
        if (next === 'change') expect(await pin(storage, { ...BOARD, repositoryId: '11' }, String(id))).toBe(id)
        if (next === 'snapshot') expect(await blocksOf(storage, '20')).toEqual([])
      }

      expect(await database.run('select id from host_notes')).toEqual([])
      expect(await issuesOn(storage, BOARD)).toEqual([])
      expect(warnings).toEqual([expect.stringContaining('left a transaction open')])
    },
  )

  test('a pool that many storages use, one after the other, gets no listener for each', async () => {
    const database = await open()
    const pool = database.pool({ connectionLimit: 1 })
    const warnings = listenerWarnings(onTestFinished)
    for (let count = 0; count < 12; count += 1) await issuesOn(database.storage(pool), BOARD)

    expect(await warnings()).toEqual([])
  })
})

async function setAutocommitOff(connection: Connection): Promise<void> {
  await connection.query('set autocommit = 0')
}

/** The one connection of a pool, which is given back at once. */
async function onlyConnection(pool: Pool): Promise<Connection> {
  const connection = await pool.getConnection()
  connection.release()
  return connection
}

async function openTransactions(pool: Pool): Promise<unknown> {
  const [rows] = await pool.query('select @@in_transaction as open')
  return Array.isArray(rows) ? Object.values({ ...rows[0] })[0] : undefined
}
