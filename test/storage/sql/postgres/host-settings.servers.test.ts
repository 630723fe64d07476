import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { issuesOn, outbox } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, NO_SUBJECT, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { expectAllKept, LARGE_IDS } from '../all-kept.ts'
import { onPostgres } from './host-database.ts'

/** An option of pg's that its types do not know. */
const BINARY: object = { binary: true }

/** What a role, a database or a pool may set for every session. */
const SETTINGS: readonly string[] = [
  'default_transaction_isolation=serializable',
  'default_transaction_isolation=repeatable\\ read',
  'default_transaction_read_only=on',
  'default_transaction_deferrable=on',
  'standard_conforming_strings=off',
  'backslash_quote=on',
  'transform_null_equals=on',
  'quote_all_identifiers=on',
  'extra_float_digits=0',
  'DateStyle=German',
  'IntervalStyle=sql_standard',
  'TimeZone=Pacific/Kiritimati',
  'bytea_output=escape',
  'lc_messages=C',
  'client_min_messages=debug5',
  'lock_timeout=20s',
  'statement_timeout=20s',
  'idle_in_transaction_session_timeout=20s',
  'synchronous_commit=off',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'jit_above_cost=0',
  'row_security=off',
  'search_path=information_schema',
]

onPostgres((open) => {
  test.each(SETTINGS)('sessions with %s change nothing', async (setting) => {
    const database = await open()

    await expectAllKept(database.storage(database.pool({ options: `-c ${setting}` })))
  })

  test('a name of the host’s that stands before the catalogue’s changes nothing', async () => {
    const database = await open()
    await database.run("create function lower(text) returns text language sql as $$ select 'x' $$")
    await database.run('create table pg_class (relname text, relkind text)')
    const storage = database.storage(database.pool({ options: `-c search_path=${database.schema},pg_catalog` }), {
      schema: undefined,
    })

    expect((await storage.schemaStatus()).state).toBe('current')
    await expectAllKept(storage)
  })

  test.each(['host’s pool', 'URL'])('what a host reads of types has no effect on a storage over a %s', async (over) => {
    const database = await open()
    for (const type of [16, 17, 20, 21, 23, 25, 114, 701, 1043, 1114, 1184, 1700, 2950, 3802]) {
      pg.types.setTypeParser(type, () => 7)
    }

    await expectAllKept(database.storage(over === 'URL' ? database.url : database.pool()))
  })

  test('what a host reads of types has no effect in his transactions', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.begun()
    pg.types.setTypeParser(20, Number)
    pg.types.setTypeParser(701, (text) => ({ text }))
    for (const issueId of LARGE_IDS) await pin(storage, BOARD, issueId, { transaction })

    expect((await storage.pinBoards.load(BOARD, transaction)).map((row) => row.issueId)).toEqual(LARGE_IDS)
  })

  test('clients that are set to binary are refused: pg spoils numbers then', async () => {
    const database = await open()
    const pool = database.pool(BINARY)
    const transaction = await pool.connect()
    await transaction.query('begin')

    await expect(pin(database.storage(), BOARD, '1', { transaction })).rejects.toThrow(TypeError)
    await expect(issuesOn(database.storage(pool), BOARD)).rejects.toThrow(/binary/)
    transaction.release()
  })

  test('a pool that forgets what is prepared changes nothing', async () => {
    const database = await open()
    const pool = database.pool({ max: 2 })
    pool.on(
      'release',
      (_error: Error | undefined, client: pg.PoolClient) => void client.query('discard all').catch(() => undefined),
    )

    await expectAllKept(database.storage(pool, { schema: database.schema }))
  })

  test('a change that the storage makes says itself how it is to be made', async () => {
    const database = await open()
    const shown: Record<string, unknown>[] = []
    const storage = database.storage(
      database.pool({ options: '-c default_transaction_isolation=serializable -c synchronous_commit=off' }),
    )
    await pin(storage, BOARD, '1', { beforeCommit: (_, transaction) => show(transaction, shown) })

    expect(shown).toEqual([
      { isolation: 'read committed', commit: 'on', wait: expect.stringMatching(/^(4s|\d{1,4}ms)$/) },
    ])
  })

  test('a commit that waits for other servers too goes on doing so', async () => {
    const database = await open()
    const shown: Record<string, unknown>[] = []
    const storage = database.storage(database.pool({ options: '-c synchronous_commit=remote_apply' }))
    await pin(storage, BOARD, '1', { beforeCommit: (_, transaction) => show(transaction, shown) })

    expect(shown).toMatchObject([{ commit: 'remote_apply' }])
  })

  test('connections go back as they were', async () => {
    const database = await open()
    const pool = database.pool({ max: 1 })
    const settings = 'select name, setting from pg_settings order by name'
    const before = await pool.query(settings)
    await expectAllKept(database.storage(pool))

    expect((await pool.query(settings)).rows).toEqual(before.rows)
  })

  test('a setting that endangers committed data is reported', async () => {
    const database = await open()
    const storage = database.storage(database.pool({ options: '-c synchronous_commit=off' }))

    expect((await storage.schemaStatus()).warnings).toEqual([expect.stringMatching(/synchronous_commit = off/)])
  })

  test('a database that can only be read is unavailable', async () => {
    const database = await open()
    const transaction = await database.begun('begin read only')

    await expect(pin(database.storage(), BOARD, '1', { transaction })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
    })
  })

  test.each([
    ['uuid', '8f14e45f-ceea-467f-a0e6-a4c4f5b6d7e8', 'bf14e45f-ceea-467f-a0e6-a4c4f5b6d7e8'],
    ['text', `O'Hara \\ 🦉`, `O'hara \\ 🦉`],
    ['bigint', '-9223372036854775808', '9223372036854775807'],
  ] as const)('ids are kept as %s, and no other is found for one', async (column, id, other) => {
    const database = await open()
    const ids = { user: column, organization: column, repository: column, issue: column }
    const storage = database.storage(database.pool(), { prefix: 'other_', ids })
    await storage.migrate()
    await storage.pinBoards.update(
      { ...BOARD, repositoryId: id },
      {
        by: { actorId: id, at: () => new Date(1) },
        expectedEpoch: undefined,
        decide: (_, pinnedAt) => ({
          state: [{ issueId: id, pinnedAt, pinnedBy: id }],
          events: [{ ...NO_SUBJECT, type: 'issue.pinned', data: { position: 1 }, repositoryId: id, issueId: id }],
          result: undefined,
        }),
      },
    )

    expect(await issuesOn(storage, { ...BOARD, repositoryId: id })).toEqual([id])
    expect(await issuesOn(storage, { ...BOARD, repositoryId: other })).toEqual([])
    expect((await outbox(storage)).map((event) => [event.actorId, event.issueId, event.repositoryId])).toEqual([
      [id, id, id],
    ])
  })

  test('schemas and prefixes side by side do not meet', async () => {
    const database = await open()
    const storages = [
      database.storage(),
      database.storage(database.url, { prefix: 'other_' }),
      database.storage(database.url, { schema: `${database.schema}_too` }),
    ]
    for (const [index, storage] of storages.entries()) {
      await storage.migrate()
      await pin(storage, BOARD, String(index))
    }

    expect(await Promise.all(storages.map((storage) => issuesOn(storage, BOARD)))).toEqual([['0'], ['1'], ['2']])
  })

  test('where search_path names no existing schema, every call says so at once, and works once there is one', async () => {
    const database = await open()
    const nowhere = `${database.schema}_later`
    const pool = database.pool({ options: `-c search_path=${nowhere}` })
    const storage = database.storage(pool, { schema: undefined })
    const refusal = { code: 'STORAGE_UNAVAILABLE', message: expect.stringMatching(/search_path .* create the schema/) }

    await expect(storage.migrate()).rejects.toMatchObject(refusal) // took five minutes
    await expect(storage.schemaStatus()).rejects.toMatchObject(refusal)
    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject(refusal)
    const transaction = await pool.connect()
    await transaction.query('begin')
    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject(refusal)
    await transaction.query('rollback')
    transaction.release()
    await database.run(`create schema ${nowhere}`)
    await storage.migrate()
    expect(await pin(storage, BOARD, '1')).toBe(1)
  })

  test('where no schema is asked for, the tables are those that a statement reaches', async () => {
    const database = await open()
    const behind = database.storage(database.pool({ options: `-c search_path=nowhere,${database.schema}` }), {
      schema: undefined,
    })
    await pin(behind, BOARD, '1')

    expect(await issuesOn(database.storage(), BOARD)).toEqual(['1'])
  })
})

const parsers = new Map([16, 17, 20, 21, 23, 25, 114, 701, 1043, 1114, 1184, 1700, 2950, 3802].map(parserOf))

afterEach(() => {
  for (const [type, parser] of parsers) pg.types.setTypeParser(type, parser)
})

function parserOf(type: number): readonly [number, (text: string) => unknown] {
  return [type, pg.types.getTypeParser(type)]
}

async function show(transaction: pg.ClientBase, shown: Record<string, unknown>[]): Promise<void> {
  const { rows } = await transaction.query(
    "select current_setting('transaction_isolation') as isolation, current_setting('synchronous_commit') as commit, " +
      "current_setting('lock_timeout') as wait",
  )
  shown.push(...rows)
}
