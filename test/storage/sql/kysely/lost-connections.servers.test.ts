import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { KyselyStorageOptions } from '../../../../src/storage/kysely.ts'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { heldOpen } from '../../databases/kysely-host.ts'
import { mariadbKysely } from '../../databases/kysely-mariadb.ts'
import { postgresKysely, received } from '../../databases/kysely-postgres.ts'
import type { HostTables } from '../../databases/kysely-sqlite.ts'
import { AT_ONCE, FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import { onMariadb } from '../mysql/host-database.ts'
import { onPostgres } from '../postgres/host-database.ts'
import { cutAtCommit, freePort } from '../server/cut-at-commit.ts'

const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }
const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }

/** A database on a server, with our tables, as these tests need it. */
interface Host {
  readonly url: string
  readonly options: KyselyStorageOptions
  /** How a COMMIT looks on its way to the server. */
  readonly commit: string
  /** Opens a Kysely on so many connections. */
  kysely(url: string, connections: number): Kysely<HostTables>
  /** Ends every connection to the database but the one that does it. */
  endConnections(): Promise<void>
}

onPostgres((open) =>
  suite(async () => {
    const database = await open()
    return {
      url: database.url,
      options: { dialect: 'postgres', schema: database.schema },
      commit: 'commit\0',
      kysely: (connectionString, max) => postgresKysely(received(database.pool({ connectionString, max }))),
      async endConnections() {
        await database.run(
          'select pg_terminate_backend(pid) from pg_stat_activity ' +
            'where datname = current_database() and pid <> pg_backend_pid()',
        )
      },
    }
  }),
)

onMariadb((open) =>
  suite(async () => {
    const database = await open()
    return {
      url: database.url,
      options: { dialect: 'mysql' },
      commit: '\x03commit',
      kysely: (url, connectionLimit) => mariadbKysely(url, { connectionLimit }),
      async endConnections() {
        const found = await database.run(
          'select id from information_schema.processlist where db = ? and id <> connection_id()',
          [database.name],
        )
        await Promise.allSettled(found.map(({ id }) => database.run(`kill ${Number(id)}`)))
      },
    }
  }),
)

function suite(open: () => Promise<Host>): void {
  test('when idle connections are ended, the next call works', async () => {
    const host = await open()
    const { storage } = opened(host)
    await Promise.all(['1', '2', '3'].map((issueId) => pin(storage, BOARD, issueId)))
    await host.endConnections()
    await new Promise((resolve) => setTimeout(resolve, 100))

    expect(await issuesOn(storage, BOARD)).toHaveLength(3)
    await pin(storage, BOARD, '4')
  })

  test('when a connection is ended in the middle of a change, nothing is done, and the next call works', async () => {
    const host = await open()
    const { storage } = opened(host)
    const beforeCommit = () => host.endConnections()

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
    await pin(storage, BOARD, '2')
    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('when a connection is ended while the host works on it, the storage is what is unavailable', async () => {
    const host = await open()
    const { storage } = opened(host)
    const change = pin(storage, BOARD, '1', {
      async beforeCommit(_, transaction) {
        await host.endConnections()
        await sql`select 1`.execute(transaction)
      },
    })

    await expect(change).rejects.toMatchObject(NOTHING_DONE)
  })

  test('a connection that the host has lost elsewhere is his own concern', async () => {
    const { storage } = opened(await open())
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:25'), { code: 'ECONNREFUSED' })
    const change = pin(storage, BOARD, '1', { beforeCommit: () => Promise.reject(refused) })

    await expect(change).rejects.toBe(refused)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('when the connection of a host’s transaction is ended, nothing is done', async () => {
    const host = await open()
    const { storage, kysely } = opened(host)
    const { transaction, rollback } = await heldOpen(kysely.transaction())
    await pin(storage, BOARD, '1', { transaction })
    await host.endConnections()

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(NOTHING_DONE)
    await Promise.resolve(rollback()).catch(() => undefined)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test.each([
    ['before it came to the server', 'before', []],
    ['after it came to the server', 'after', ['1']],
  ] as const)('when the connection is lost %s, the outcome of a COMMIT is unknown', async (_, moment, issues) => {
    const host = await open()
    const { storage } = opened(host, await cutAtCommit(host.url, moment, host.commit))

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject(UNKNOWN)
    expect(await issuesOn(opened(host).storage, BOARD)).toEqual(issues)
  })

  test('a server that refuses connections is unavailable at once', async () => {
    const host = await open()
    const url = new URL(host.url)
    url.port = String(await freePort())
    const start = performance.now()

    await expect(issuesOn(opened(host, url.href).storage, BOARD)).rejects.toMatchObject(NOTHING_DONE)
    expect(performance.now() - start).toBeLessThan(AT_ONCE)
  })

  test('a Kysely that the host has destroyed is unavailable', async () => {
    const { storage, kysely } = opened(await open())
    await pin(storage, BOARD, '1')
    await kysely.destroy()

    await expect(pin(storage, BOARD, '2')).rejects.toMatchObject(NOTHING_DONE)
  })

  test('a Kysely whose connections the host keeps is waited for, and no longer than five seconds', async () => {
    const host = await open()
    const { storage, kysely } = opened(host, host.url, 1)
    const { commit } = await heldOpen(kysely.transaction())
    const start = performance.now()
    const calls = [issuesOn(storage, BOARD), pin(storage, BOARD, '1')]

    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: BUSY })
    }
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
    await commit()
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })
}

function opened(host: Host, url = host.url, connections = 8) {
  const kysely = host.kysely(url, connections)
  onTestFinished(() => kysely.destroy().catch(() => undefined)) // a test may have destroyed it
  return { kysely, storage: kyselyStorage(kysely, host.options) }
}
