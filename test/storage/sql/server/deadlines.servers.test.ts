import { setTimeout as pause } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { describe, expect, test } from 'vitest'
import { blockedBy, issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, block, pin, retire } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onServer } from '../../databases/servers.ts'
import { FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import type { HostConnection, TestDatabase } from './server-databases.ts'
import { newDatabase, POSTGRES, SERVER_KINDS } from './server-databases.ts'
import { storageUses } from './storage-uses.ts'

const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }
const LOST = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }
/** The server ends a wait half a second before the call ends or more: on a busy machine either may be first. */
const REFUSED = [BUSY, NOTHING_DONE].map((reason) => ({ status: 'rejected', reason: expect.objectContaining(reason) }))
const CONNECTIONS = 4

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    // Most wait for five seconds, so they run at once.
    describe.concurrent('the deadline of a call', () => {
      test('covers the waits for all of its locks', async (context) => {
        const { database, opened } = await onEach(context)
        const organizations = ['1', '2', '3', '4', '5']
        for (const [n, { storage }] of opened.entries()) {
          for (const organization of organizations) await block(storage, organization, `9${n}`)
        }
        const holders = await Promise.all(organizations.map((id) => held(database, 'organization', id)))
        const releasing = releasedOneByOne(holders, 3500)
        const start = performance.now()
        const calls = opened.map(({ storage }, n) => retire(storage, { thing: 'user', userId: `9${n}` }))

        for (const outcome of await Promise.allSettled(calls)) expect(REFUSED).toContainEqual(outcome)
        expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
        await releasing.now()
        for (const { storage } of opened) expect(await blockedBy(storage, '1')).toHaveLength(opened.length)
      })

      test('counts what the storage has already taken for the same call', async (context) => {
        const { database, opened } = await onEach(context)
        const holder = await held(database, 'issueBoard', BOARD.repositoryId)
        const start = performance.now()
        const calls = opened.map(({ storage }) => pin(storage, BOARD, '1', { spentMilliseconds: 4500 }))

        for (const outcome of await Promise.allSettled(calls)) expect(REFUSED).toContainEqual(outcome)
        expect(performance.now() - start).toBeLessThan(3000) // without it the lock is waited for four seconds
        await holder.run('rollback')
        for (const { storage } of opened) expect(await issuesOn(storage, BOARD)).toEqual([])
      })

      test('is brought forward by a signal that aborts', async (context) => {
        const { database, opened } = await onEach(context)
        const holder = await held(database, 'issueBoard', BOARD.repositoryId)
        const controller = new AbortController()
        const calls = opened.map(({ storage }) => pin(storage, BOARD, '1', { signal: controller.signal }))
        await waiting(database, calls.length)
        const reason = new Error('the client has gone')
        const start = performance.now()
        controller.abort(reason)

        for (const outcome of await Promise.allSettled(calls)) expect(outcome).toEqual({ status: 'rejected', reason })
        expect(performance.now() - start).toBeLessThan(2000) // the lock is waited for longer
        await holder.run('rollback')
        for (const [n, { storage }] of opened.entries()) await pin(storage, BOARD, `2${n}`)
        for (const { storage } of opened) expect(await issuesOn(storage, BOARD)).toEqual(opened.map((_, n) => `2${n}`))
      })

      test('covers a beforeCommit, and nothing of the change is done', async (context) => {
        const { opened } = await onEach(context)
        const beforeCommit = () => new Promise<void>(() => undefined)
        const start = performance.now()
        const calls = opened.map(({ storage }, n) =>
          pin(storage, { ...BOARD, repositoryId: `${n}` }, `${n}`, { beforeCommit }),
        )

        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome).toMatchObject({ status: 'rejected', reason: NOTHING_DONE })
        }
        expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
        for (const [n, { storage }] of opened.entries()) {
          expect(await issuesOn(storage, { ...BOARD, repositoryId: `${n}` })).toEqual([])
        }
      })

      test('holds in a transaction of the host’s, and what was done late is taken back', async (context) => {
        const { database, opened } = await onEach(context)
        const holder = await held(database, 'issueBoard', BOARD.repositoryId)
        const hosts = opened.filter(({ begin }) => begin !== undefined)
        const begun = await Promise.all(hosts.map(async ({ begin = notThere }) => begin()))
        const start = performance.now()
        const calls = hosts.map(({ storage }, n) =>
          pin(storage, BOARD, `1${n}`, { transaction: begun[n]?.transaction }),
        )

        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome).toMatchObject({ status: 'rejected', reason: LOST })
        }
        expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
        const commits = begun.map(async ({ commit }) => commit()) // a host that does not heed the error
        await holder.run('rollback')
        await Promise.all(commits)
        for (const { storage } of hosts) expect(await issuesOn(storage, BOARD)).toEqual([])
      })

      test('is later where much is removed, and only there', async (context) => {
        const { database, opened } = await onEach(context)
        await database.run(slowly('delete', 'organization_blocks', 6))
        await database.run(slowly('insert', 'board_pins', 20))
        for (const [n, { storage }] of opened.entries()) await block(storage, `${n}`, '9')
        const start = performance.now()
        const removed = (async () => {
          // One after the other: on a small table MariaDB may look for rows in all of it, and wait for those of another.
          const answers = []
          for (const [n, { storage }] of opened.entries()) {
            answers.push(await retire(storage, { thing: 'organization', organizationId: `${n}` }))
          }
          return answers
        })()
        const changes = opened.map(({ storage }, n) => pin(storage, { ...BOARD, repositoryId: `${n}` }, '1'))

        for (const outcome of await Promise.allSettled(changes)) expect(REFUSED).toContainEqual(outcome)
        expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
        expect(await removed).toEqual(opened.map(() => [expect.anything()]))
      }, 90_000)
    })

    /** A database, and storages on it that reach it in several ways. All ends with the test. */
    async function onEach({ onTestFinished }: TestContext) {
      const database = await newDatabase(kind, server, onTestFinished)
      const maker = kind.storage(database.url)
      await maker.migrate()
      await maker.close()
      const opened = storageUses(kind).map((use) => use.open(database.url, CONNECTIONS))
      onTestFinished(async () => {
        for (const { storage, end } of opened) {
          await storage.close()
          end()
        }
      })
      const connections: HostConnection[] = []
      onTestFinished(async () => {
        for (const connection of connections) await connection.end()
      })
      const connect = async () => {
        const connection = await kind.connect(database.url)
        connections.push(connection)
        return connection
      }
      return { database: { run: (sql: string) => database.run(sql), connect }, opened }
    }

    /** A transaction of the host's that holds the lock of one head until it is rolled back. */
    async function held(database: Pick<TestDatabase, 'connect'>, scope: string, key: string): Promise<HostConnection> {
      const column = kind === POSTGRES ? '"key"' : '`key`'
      const where = `where scope = '${scope}' and ${column} = '${key}'`
      const holder = await database.connect()
      await holder.run('begin')
      const found = await holder.run(`select 1 as found from forgelet_heads ${where} for update`)
      if (found.length > 0) return holder

      const values = `('${scope}', '${key}', 0, 0, 0, 0, 1)`
      await holder.run(
        `insert into forgelet_heads (scope, ${column}, version, epoch, retired, total, next_seq) values ${values}`,
      )
      return holder
    }

    /** Settles when so many connections to the database wait for locks. */
    async function waiting(database: Pick<TestDatabase, 'run'>, count: number): Promise<void> {
      const waiters =
        kind === POSTGRES
          ? "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
          : 'select trx_id from information_schema.innodb_trx join information_schema.processlist ' +
            "on id = trx_mysql_thread_id where db = database() and trx_state = 'LOCK WAIT'"
      // MariaDB shows what it showed before to those who ask again within a tenth of a second.
      while ((await database.run(waiters)).length < count) await pause(150)
    }

    /** Makes a kind of change of a table take its time. */
    function slowly(change: 'insert' | 'delete', table: string, seconds: number): string {
      const head = `create trigger slow_${table} before ${change} on forgelet_${table} for each row`
      if (kind !== POSTGRES) return `${head} begin declare slept int; set slept = sleep(${seconds}); end`

      const result = change === 'insert' ? 'new' : 'old'
      const body = `begin perform pg_sleep(${seconds}); return ${result}; end`
      return (
        `create function slow_${table}() returns trigger language plpgsql as '${body}'; ` +
        `${head} execute function slow_${table}()`
      )
    }
  })
}

/** Rolls transactions back one after the other, with so many milliseconds between; `now` ends those that are left. */
function releasedOneByOne(holders: readonly HostConnection[], milliseconds: number): { now(): Promise<void> } {
  const left = [...holders]
  const timer = setInterval(() => void left.shift()?.run('rollback'), milliseconds)
  return {
    async now() {
      clearInterval(timer)
      for (const holder of left.splice(0)) await holder.run('rollback')
    },
  }
}

function notThere(): never {
  throw new TypeError('the host has no connections')
}
