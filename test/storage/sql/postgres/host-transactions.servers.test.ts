import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { blockedBy, issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, block, pin, retire } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { GrowingLists } from '../growing-lists.ts'
import { watch } from '../server/watched-connections.ts'
import type { HostDatabase } from './host-database.ts'
import { onPostgres } from './host-database.ts'

const OTHER_BOARD = { ...BOARD, repositoryId: '11' }
const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }

onPostgres((open, server) => {
  test('what is done in a transaction goes with it', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    await pin(storage, BOARD, '1', { transaction })
    await block(storage, '20', '30', { transaction })
    const inside = await storage.pinBoards.load(BOARD, transaction)
    const outside = await issuesOn(storage, BOARD)
    await transaction.query('rollback')

    expect([inside.length, outside, await issuesOn(storage, BOARD), await blockedBy(storage, '20')]).toEqual([
      1,
      [],
      [],
      [],
    ])
  })

  test('a change that is refused leaves the rest of the transaction', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    await transaction.query('create table host_issues (id bigint)')
    await pin(storage, BOARD, '1', { transaction })
    await expect(pin(storage, BOARD, '2', { transaction, limit: 1 })).rejects.toMatchObject({
      code: 'PIN_LIMIT_REACHED',
    })
    await transaction.query('commit')

    expect([await issuesOn(storage, BOARD), await database.run('select * from host_issues')]).toEqual([['1'], []])
  })

  test('a change that the host’s beforeCommit fails, on the transaction itself, leaves the rest', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    await pin(storage, BOARD, '1', { transaction })
    const beforeCommit = async (_: unknown, open: pg.ClientBase) => void (await open.query('select 1 / 0'))
    await expect(pin(storage, BOARD, '2', { transaction, beforeCommit })).rejects.toMatchObject({ code: '22012' })
    await transaction.query('commit')

    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('changes that are made at once are made one after the other', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    await Promise.all(['1', '2', '3'].map((issueId) => pin(storage, BOARD, issueId, { transaction })))
    await transaction.query('commit')

    expect(await issuesOn(storage, BOARD)).toEqual(['1', '2', '3'])
  })

  test('a page and its total come from one snapshot at READ COMMITTED, whatever others commit between two statements', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun('begin isolation level read committed')

    await new GrowingLists(storage).expectWholePages(transaction, (grow) => watch(transaction, grow))
  })

  test('a client without a transaction is refused, with what to do', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.connect()

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toThrow(/not inside a transaction: begin one/)
    await expect(storage.checkTransaction(transaction)).rejects.toThrow(TypeError)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test.each([undefined, null, 7, {}, { query: 1 }])('%s is not a transaction', async (transaction) => {
    const database = await open()

    const enter = async () => Reflect.apply(database.storage().checkTransaction, undefined, [transaction])

    await expect(enter()).rejects.toThrow(TypeError)
  })

  test('a pool is not a transaction, not even the storage’s own', async () => {
    const database = await open()
    const pool = database.pool()
    const enter = (storage: ForgeStorage<pg.Client>, transaction: unknown) =>
      Reflect.apply(storage.checkTransaction, storage, [transaction])

    await expect(enter(database.storage(), pool)).rejects.toThrow(/not the pool/)
    await expect(enter(database.storage(pool), pool)).rejects.toThrow(/not the pool/)
  })

  test('a transaction on another database is refused', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const transaction = new pg.Client(server)
    await transaction.connect()
    onTestFinished(() => transaction.end())
    await transaction.query('begin')

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toThrow(/on another database/)
    await expect(pin(database.storage(), BOARD, '2', { transaction })).rejects.toMatchObject({
      code: 'SCHEMA_OUTDATED',
    })
  })

  test('a transaction whose search_path leads to other tables is refused', async () => {
    const [database, other] = [await open(), await open()]
    const storage = database.storage(database.pool(), { schema: undefined })
    await pin(storage, BOARD, '1')
    const transaction = await other.begun()

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toThrow(/its search_path differs/)
  })

  test('tables that were created again are those of the storage', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    await database.run(`drop schema ${database.schema} cascade`)
    await database.storage().migrate()
    const transaction = await database.begun()
    await pin(storage, BOARD, '2', { transaction })
    await transaction.query('commit')

    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('missing tables are reported as such, and not as a fault', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    await database.run(`drop schema ${database.schema} cascade`)

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
  })

  test('a transaction that has failed is to be run again', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    await transaction.query('select 1 / 0').catch(() => undefined)

    await expect(storage.checkTransaction(transaction)).rejects.toMatchObject(RUN_AGAIN)
    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    await expect(storage.pinBoards.load(BOARD, transaction)).rejects.toMatchObject(RUN_AGAIN)
  })

  test('a snapshot of the host’s that is older than a change is to be taken again', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun('begin isolation level repeatable read')
    await storage.pinBoards.load(BOARD, transaction)
    await pin(storage, BOARD, '1')

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(RUN_AGAIN)
  })

  test('an issue that was pinned since the host’s snapshot is not retired without its pin', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun('begin isolation level repeatable read')
    await storage.pinBoards.load(BOARD, transaction)
    await pin(storage, OTHER_BOARD, '1')
    const retiring = retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, { transaction })

    await expect(retiring).rejects.toMatchObject(RUN_AGAIN)
  })

  test('a deadlock is the host’s to run again, and it is his transaction that ends', async () => {
    const database = await open()
    const storage = database.storage()
    await Promise.all([pin(storage, BOARD, '1'), pin(storage, OTHER_BOARD, '1')])
    const [one, other] = [await database.begun(), await database.begun()]
    await pin(storage, BOARD, '2', { transaction: one })
    await pin(storage, OTHER_BOARD, '3', { transaction: other })
    const outcomes = await Promise.allSettled([
      endingOnFailure(one, pin(storage, OTHER_BOARD, '4', { transaction: one })),
      endingOnFailure(other, pin(storage, BOARD, '5', { transaction: other })),
    ])

    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find((outcome) => outcome.status === 'rejected')).toMatchObject({ reason: RUN_AGAIN })
  })

  test('a call that must look for our tables again, and gets no connection for that, is to be run again with the transaction', async () => {
    const database = await open()
    const pool = database.pool({ max: 1 })
    const storage = database.storage(pool)
    await issuesOn(storage, BOARD)
    await database.run(`drop schema "${database.schema}" cascade`)
    await database.storage().migrate()
    const transaction = await pool.connect()
    await transaction.query('begin')

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    await transaction.query('rollback')
    transaction.release()
  })

  test('nothing of how the host set his transaction is changed', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    const statements: string[] = []
    watch(transaction, (text) => void statements.push(text))
    await pin(storage, BOARD, '1', { transaction })

    expect(statements.filter((text) => /\b(set|begin|commit|rollback)\b/.test(text.replace(/"[^"]*"/g, '')))).toEqual(
      statements.filter((text) => text.startsWith('update ') || text.includes('on conflict')),
    )
  })

  test.each(['own', 'host’s'])('reads of beforeCommit on the %s transaction see the change', async (whose) => {
    const database = await open()
    const storage = database.storage()
    const transaction = whose === 'own' ? undefined : await database.begun()
    const seen: unknown[] = []
    const beforeCommit = async (_: unknown, open: pg.Client | pg.PoolClient) => {
      const rows = await storage.pinBoards.load(BOARD, open)
      seen.push(rows.map((row) => row.issueId))
    }
    await pin(storage, BOARD, '1', { transaction, beforeCommit })

    expect(seen).toEqual([['1']])
  })

  test.each(['own', 'host’s'])('a change that beforeCommit makes on the %s transaction is refused', async (whose) => {
    const database = await open()
    const storage = database.storage()
    const transaction = whose === 'own' ? undefined : await database.begun()
    const beforeCommit = async (_: unknown, open: pg.Client | pg.PoolClient) =>
      void (await pin(storage, OTHER_BOARD, '2', { transaction: open }))

    await expect(pin(storage, BOARD, '1', { transaction, beforeCommit })).rejects.toThrow(
      'beforeCommit must not change the forge',
    )
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test.each([
    ['own', 'rollback'],
    ['own', 'rollback; begin'],
    ['own', 'select 1 / 0'],
    ['host’s', 'rollback'],
    ['host’s', 'rollback; begin'],
    ['host’s', 'select 1 / 0'],
  ])('a beforeCommit that leaves the %s transaction with "%s" is a TypeError', async (whose, text) => {
    const database = await open()
    const storage = database.storage()
    const transaction = whose === 'own' ? undefined : await database.begun()
    const beforeCommit = async (_: unknown, open: pg.ClientBase) => void (await open.query(text).catch(() => undefined))

    await expect(pin(storage, BOARD, '1', { transaction, beforeCommit })).rejects.toThrow(
      /beforeCommit must leave its transaction open and without/,
    )
    await transaction?.query('commit')
    expect(await issuesOn(storage, BOARD)).toEqual([])
    await pin(storage, BOARD, '2')
  })

  test('a deferred constraint of the host’s that beforeCommit breaks fails the change, with the driver’s error', async () => {
    const database = await open()
    await database.run(
      'create table host_rows (id int primary key, other int references host_rows deferrable initially deferred)',
    )
    const storage = database.storage(database.pool())
    const beforeCommit = async (_: unknown, open: pg.ClientBase) =>
      void (await open.query('insert into host_rows values (1, 2)'))

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject({ code: '23503' })
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('a host whose pool has one connection can pass it to withTransaction, also before anything else', async () => {
    const database: HostDatabase = await open()
    const pool = database.pool({ max: 1 })
    const storage = database.storage(pool)
    const transaction = await pool.connect()
    await transaction.query('begin')
    await storage.checkTransaction(transaction)
    await pin(storage, BOARD, '1', { transaction })
    await transaction.query('commit')
    transaction.release()

    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })
})

/** As a host does whose transaction failed. */
async function endingOnFailure(transaction: pg.Client, work: Promise<unknown>): Promise<void> {
  try {
    await work
    await transaction.query('commit')
  } catch (error) {
    await transaction.query('rollback')
    throw error
  }
}
