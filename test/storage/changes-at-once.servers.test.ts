import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { SchemaStorageOptions } from '../../src/storage/postgres.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage, Retired } from '../../src/storage/storage.ts'
import { define, grant, revoke } from '../../src/testing/storage-contract/samples/badges.ts'
import { block, blockByUser, blockedByUser, unblock } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin, unpin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import type { PostgresHost } from './driver-hosts.ts'
import { onPostgres } from './driver-hosts.ts'
import { cutAtCommit } from './proxies.ts'
import { beforeFirst, watch } from './watched-connections.ts'

// On PostgreSQL a change is one read and one statement. What comes between the two is told apart by the version of the head, and by
// what the statement needs.

const READ = /^with statement_0 as \(select .* from "forgelet_heads"/
const AT_ONCE = /^with .*not possible at once/
const BEGIN = /^begin/

const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }

onPostgres((open) => {
  test('a change is one read and one statement', async () => {
    const database = await open()
    const { storage, texts } = listened(database)
    await define(storage, 'owl')
    const changes = [
      () => pin(storage, BOARD, '1'),
      () => pin(storage, BOARD, '2'),
      () => pin(storage, BOARD, '3'),
      () => unpin(storage, BOARD, '1'),
      () => unpin(storage, BOARD, '3'),
      () => block(storage, '20', '30'),
      () => unblock(storage, '20', '30'),
      () => blockByUser(storage, '31', '30'),
      () => grant(storage, '30', ['owl']),
      () => revoke(storage, '30', ['owl']),
    ]
    for (const change of changes) {
      texts.length = 0
      await change()
      expect(texts).toEqual([expect.stringMatching(READ), expect.stringMatching(AT_ONCE)])
    }
    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
    expect(await blockedByUser(storage, '31')).toEqual(['30'])
  })

  test('a change that changes nothing, or is refused, is one read', async () => {
    const database = await open()
    const { storage, texts } = listened(database)
    await pin(storage, BOARD, '1')
    texts.length = 0
    await pin(storage, BOARD, '1')
    await expect(pin(storage, BOARD, '2', { limit: 1 })).rejects.toMatchObject({ code: 'PIN_LIMIT_REACHED' })

    expect(texts).toEqual([expect.stringMatching(READ), expect.stringMatching(READ)])
  })

  test('a change that another overtakes is made again with locks, and so are the next', async () => {
    const database = await open()
    const other = database.storage()
    const { storage, texts } = listened(
      database,
      beforeFirst(AT_ONCE, () => pin(other, BOARD, '1')),
    )
    await pin(storage, BOARD, '2')
    expect(await issuesOn(other, BOARD)).toEqual(['1', '2'])
    expect(await eventsOf(other)).toEqual(['1', '2'])

    expect(texts.filter((text) => BEGIN.test(text))).toHaveLength(1)
    await expect(pin(storage, BOARD, '3', { limit: 2 })).rejects.toMatchObject({ code: 'PIN_LIMIT_REACHED' })
    expect(texts.filter((text) => BEGIN.test(text))).toHaveLength(2)
  })

  test.each<readonly [string, Retired, change: <Tx>(storage: ForgeStorage<Tx>) => Promise<unknown>]>([
    ['ISSUE_NOT_FOUND', { thing: 'issue', issueId: '1', ...BOARD }, (storage) => pin(storage, BOARD, '1')],
    [
      'REPOSITORY_NOT_FOUND',
      { thing: 'repository', repositoryId: BOARD.repositoryId },
      (storage) => pin(storage, BOARD, '1'),
    ],
    ['USER_NOT_FOUND', { thing: 'user', userId: '30' }, (storage) => block(storage, '20', '30')],
  ])('no change is made to what goes meanwhile: %s', async (code, retired, change) => {
    const database = await open()
    const other = database.storage()
    const { storage } = listened(
      database,
      beforeFirst(AT_ONCE, () => retire(other, retired)),
    )

    await expect(change(storage)).rejects.toMatchObject({ code })
    for (const table of ['board_pins', 'organization_blocks']) {
      expect(await database.run(`select * from forgelet_${table}`)).toEqual([])
    }
  })

  test.each([
    ['removes', 'delete from issues where id = 1'],
    ['hides', 'update issues set is_trashed = true where id = 1'],
  ])('nothing is pinned when the host %s the issue meanwhile', async (_, meanwhile) => {
    const database = await open()
    await database.run(`
      create table issues (id bigint primary key, repo_id bigint, number bigint, is_trashed boolean default false);
      insert into issues (id) values (1), (2)`)
    const issues = { table: 'issues', repository: 'repo_id', number: 'number', where: 'not is_trashed' }
    const tables = { issues }
    await database.storage(undefined, { tables }).migrate()
    const { storage } = listened(
      database,
      beforeFirst(AT_ONCE, () => database.run(meanwhile)),
      { tables },
    )
    const late = pin(storage, BOARD, '1')

    await expect(late).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
    expect([await issuesOn(storage, BOARD), await eventsOf(storage)]).toEqual([[], []])
  })

  test('a block takes locks where the storage reads who is a member', async () => {
    const database = await open()
    await database.run(`
      create table users (id bigint primary key, name text);
      create table orgs (id bigint primary key, name text);
      create table members (org_id bigint, user_id bigint, primary key (org_id, user_id));
      insert into users values (30, 'bob'); insert into orgs values (20, 'acme')`)
    const tables = {
      users: { table: 'users', name: 'name' },
      organizations: { table: 'orgs', name: 'name' },
      members: { table: 'members', organization: 'org_id', user: 'user_id' },
    }
    await database.storage(undefined, { tables }).migrate()
    const { storage, texts } = listened(database, undefined, { tables })
    await block(storage, '20', '30')

    expect(texts.filter((text) => BEGIN.test(text))).toHaveLength(1)
  })

  test.each(['default_transaction_read_only = on', 'default_transaction_isolation = serializable'])(
    'a session with %s changes something',
    async (setting) => {
      const database = await open()
      await database.run(`do $$ begin execute format('alter database %I set ${setting}', current_database()); end $$`)
      const storage = database.storage()
      await pin(storage, BOARD, '1')
      await pin(storage, BOARD, '2')

      expect(await issuesOn(storage, BOARD)).toEqual(['1', '2'])
    },
  )

  test('synchronous_commit = off of a session is not that of a change', async () => {
    const database = await open()
    const pool = database.pool({ options: '-c synchronous_commit=off' })
    const seen: unknown[] = []
    pool.on('connect', (client) =>
      watch(client, (text) => {
        if (AT_ONCE.test(text)) seen.push(text)
      }),
    )
    await database.run(`
      create table durable (setting text);
      create function note() returns trigger language plpgsql as
        $$ begin insert into durable values (current_setting('synchronous_commit')); return new; end $$;
      create trigger noted before insert on forgelet_events for each row execute function note()`)
    await pin(database.storage(pool), BOARD, '1')

    expect(seen).toHaveLength(1)
    expect(await database.run('select setting from durable')).toEqual([{ setting: 'on' }])
  })

  test('a change does not wait longer for a lock than one that takes locks, and nothing of it comes later', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const other = await database.begun()
    await other.query('select from forgelet_heads for update')

    await expect(pin(storage, BOARD, '2')).rejects.toMatchObject({ code: 'STORAGE_BUSY', details: { retry: 'call' } })
    await other.query('commit')
    await pin(storage, BOARD, '3')
    expect(await issuesOn(storage, BOARD)).toEqual(['1', '3'])
  })

  test('a call that is repeated tries it once', async () => {
    const database = await open()
    await database.run(
      'create table issues (id bigint primary key, repo_id bigint, number bigint); insert into issues values (1)',
    )
    const tables = { issues: { table: 'issues', repository: 'repo_id', number: 'number' } }
    await database.storage(undefined, { tables }).migrate()
    const { storage, texts } = listened(database, undefined, { tables })
    const other = await database.begun()
    await other.query('delete from issues')

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
    expect(texts.filter((text) => AT_ONCE.test(text))).toHaveLength(1)
    expect(texts.filter((text) => BEGIN.test(text)).length).toBeGreaterThan(1)
  })

  test('a signal that aborts between the read and the statement keeps the change from being sent', async () => {
    const database = await open()
    const stop = new AbortController()
    const reason = new Error('enough')
    const { storage, texts } = listened(
      database,
      beforeFirst(READ, async () => stop.abort(reason)),
    )

    await expect(pin(storage, BOARD, '1', { signal: stop.signal })).rejects.toBe(reason)
    expect(texts.filter((text) => AT_ONCE.test(text))).toEqual([])
  })

  test.each([
    ['before', []],
    ['after', ['1']],
  ] as const)(
    'whether it was made is unknown when the connection is lost %s the statement runs',
    async (moment, issues) => {
      const database = await open()
      const cut = await cutAtCommit(database.url, moment, 'not possible at once')
      onTestFinished(cut.end)

      await expect(pin(database.storage(cut.url), BOARD, '1')).rejects.toMatchObject(UNKNOWN)
      expect(await issuesOn(database.storage(), BOARD)).toEqual(issues)
    },
  )

  test('whether it was made is unknown when the server ends the connection', async () => {
    const database = await open()
    await database.run(`
      create function stop() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return new; end $$;
      create trigger stopped before insert on forgelet_events for each row execute function stop()`)

    await expect(pin(database.storage(), BOARD, '1')).rejects.toMatchObject(UNKNOWN)
  })
})

/** A storage over a pool of its host, and what it sends. What `act` returns is waited for before a statement is sent. */
function listened(
  database: PostgresHost,
  act: (text: string) => Promise<void> = async () => undefined,
  options: SchemaStorageOptions = {},
): { readonly storage: ForgeStorage<pg.PoolClient>; readonly texts: string[] } {
  const pool = new pg.Pool({ connectionString: database.url })
  pool.on('error', () => undefined) // the database may go before its last connection has ended
  onTestFinished(() => pool.end())
  const texts: string[] = []
  const isChange = (text: string): boolean => READ.test(text) || AT_ONCE.test(text) || BEGIN.test(text)
  pool.on('connect', (client) =>
    watch(client, (text) => {
      if (isChange(text)) texts.push(text)
      return act(text)
    }),
  )
  return { storage: postgresStorage(pool, options), texts }
}

async function eventsOf<Tx>(storage: ForgeStorage<Tx>): Promise<readonly (string | null)[]> {
  const { events } = await storage.events.read({ after: undefined, limit: 10 })
  return events.map(({ issueId }) => issueId)
}
