import { sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { heldOpen } from '../../databases/kysely-host.ts'
import { postgresKysely, received } from '../../databases/kysely-postgres.ts'
import { expectAllKept } from '../all-kept.ts'
import type { HostDatabase } from '../postgres/host-database.ts'
import { onPostgres } from '../postgres/host-database.ts'

/** What a role, a database or a pool may set for every session. */
const SETTINGS: readonly string[] = [
  'default_transaction_isolation=serializable',
  'standard_conforming_strings=off',
  'transform_null_equals=on',
  'extra_float_digits=0',
  'DateStyle=German',
  'TimeZone=Pacific/Kiritimati',
  'synchronous_commit=off',
  'lock_timeout=20s',
]

onPostgres((open) => {
  test.each(SETTINGS)('sessions with %s change nothing', async (setting) => {
    await expectAllKept(opened(await open(), { options: `-c ${setting}` }).storage)
  })

  test('large integers that the host reads as numbers are not rounded', async () => {
    const database = await open()
    keepParsers(20)
    pg.types.setTypeParser(20, Number)

    await expectAllKept(opened(database).storage)
  })

  test('a driver that returns doubles as another type is refused, with the fix', async () => {
    const { storage } = opened(await open())
    keepParsers(701)
    pg.types.setTypeParser(701, (text) => text)

    await expect(pin(storage, BOARD, '1')).rejects.toThrow(TypeError)
    await expect(issuesOn(storage, BOARD)).rejects.toThrow(/returns doubles as numbers/)
  })

  test('a change of its own waits for locks so long and no longer, and is durable', async () => {
    const { storage } = opened(await open(), { options: '-c synchronous_commit=off' })
    const seen: unknown[] = []
    await pin(storage, BOARD, '1', {
      async beforeCommit(_, transaction) {
        for (const name of ['lock_timeout', 'synchronous_commit', 'transaction_isolation']) {
          const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(transaction)
          seen.push(rows[0]?.value)
        }
      },
    })

    expect(seen).toEqual([expect.stringMatching(/^[34]\d{3}ms$|^4s$/), 'on', 'read committed'])
  })

  test('nothing that is set for a change stays on the host’s connection', async () => {
    const { storage, kysely } = opened(await open(), { max: 1, options: '-c synchronous_commit=off' })
    await pin(storage, BOARD, '1')
    const { rows } = await sql`
      select current_setting('lock_timeout') as lock, current_setting('synchronous_commit') as sync
    `.execute(kysely)

    expect(rows).toEqual([{ lock: '0', sync: 'off' }])
  })

  test('a transaction whose search_path leads to other tables is refused', async () => {
    const { storage, kysely } = opened(await open())
    await pin(storage, BOARD, '1')
    const { transaction, rollback } = await heldOpen(kysely.transaction())
    await sql`set local search_path = information_schema`.execute(transaction)

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toThrow(/search_path differs/)
    await rollback()
  })

  test('tables that were created again are those of the storage', async () => {
    const database = await open()
    const { storage, kysely } = opened(database)
    await pin(storage, BOARD, '1')
    await database.run(`drop schema ${database.schema} cascade`)
    await database.storage().migrate()
    await kysely.transaction().execute((transaction) => pin(storage, BOARD, '2', { transaction }))

    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test.each(['mysql', 'sqlite'] as const)('is reported if the dialect %s was named', async (dialect) => {
    const { kysely } = opened(await open())
    const storage = kyselyStorage(kysely, { dialect })

    await expect(storage.migrate()).rejects.toThrow(/has another dialect: set dialect to/)
  })

  test('a transaction in which a statement has failed is to be run again', async () => {
    const { storage, kysely } = opened(await open())
    const { transaction, rollback } = await heldOpen(kysely.transaction())
    await expect(sql`select 1 / 0`.execute(transaction)).rejects.toThrow(/division by zero/)

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'host-transaction' },
    })
    await rollback()
  })

  test('settings that lose committed data are reported', async () => {
    const { storage } = opened(await open(), { options: '-c synchronous_commit=off' })

    expect(await storage.schemaStatus()).toMatchObject({
      state: 'current',
      warnings: expect.arrayContaining([expect.stringContaining('synchronous_commit = off')]),
    })
  })
})

/** The pool's clients find the tables by their search_path. */
function opened(database: HostDatabase, config: pg.PoolConfig = {}) {
  const options = `-c search_path=${database.schema} ${config.options ?? ''}`
  const kysely = postgresKysely(received(database.pool({ ...config, options })))
  onTestFinished(() => kysely.destroy().catch(() => undefined))
  return { kysely, storage: kyselyStorage(kysely, { dialect: 'postgres' }) }
}

/** What a host reads of a type is so for all of pg. */
function keepParsers(type: number): void {
  const parser = pg.types.getTypeParser(type)
  onTestFinished(() => pg.types.setTypeParser(type, parser))
}
