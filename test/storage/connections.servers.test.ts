import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { describe, expect, test } from 'vitest'
import { isForgeError } from '../../src/index.ts'
import { define, removeBadge } from '../../src/testing/storage-contract/samples/badges.ts'
import { block, blockedBy } from '../../src/testing/storage-contract/samples/blocks.ts'
import { outbox } from '../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import { change, NO_SUBJECT } from '../../src/testing/storage-contract/samples/sample.ts'
import type { HostConnection } from '../databases.ts'
import { deferred } from '../deferred.ts'
import { AT_ONCE, FIVE_SECONDS_AND_ROOM } from './promised-times.ts'
import type { SilentProxy } from './proxies.ts'
import { cutAtCommit, silentProxy } from './proxies.ts'
import type { Below, ServerKind, ServerUse } from './server-uses.ts'
import { onEachUse } from './server-uses.ts'

const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }
/** A change with this takes locks on every server, and is committed by COMMIT. */
const LOCKING = { beforeCommit: async () => undefined }
const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }
const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
/** How long others wait at most for what a machine has locked that is gone, in milliseconds. */
const FREE_AFTER = 9000
const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }
/** A call that waits is ended by the server, or by its own five seconds: on a busy machine either may be first. */
const REFUSED = { code: expect.stringMatching(/^STORAGE_(BUSY|UNAVAILABLE)$/) }

onEachUse((kind, onEach) => {
  describe('connections that the server ends', () => {
    test('while they are idle are replaced by the next call', (context) =>
      onEach(context, async ({ storage }, database) => {
        await Promise.all(['1', '2', '3'].map((issueId) => pin(storage, BOARD, issueId)))
        await kind.endConnections(database)
        await pause(100) // until the pool has read that they have ended

        expect(await issuesOn(storage, BOARD)).toHaveLength(3)
        await pin(storage, BOARD, '4')
      }))

    test.for(['', 'select 1'])(
      'in the middle of a change leave nothing of it, whose host sends "%s"',
      (text, context) =>
        onEach(context, async ({ storage, run }, database) => {
          const beforeCommit = async (_: unknown, transaction: unknown) => {
            await kind.endConnections(database)
            if (text !== '') await run(transaction, text)
          }

          await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
          await pin(storage, BOARD, '2')
          expect(await issuesOn(storage, BOARD)).toEqual(['2'])
        }),
    )

    test('again and again end every call, and what it answered is so', (context) =>
      onEach(context, async ({ storage }, database) => {
        let busy = true
        const ending = (async () => {
          while (busy) await kind.endConnections(database)
        })()
        const boards = Array.from({ length: 40 }, (_, n) => ({ ...BOARD, repositoryId: String(100 + n) }))
        const outcomes = await Promise.allSettled(boards.map((board) => pin(storage, board, '1')))
        busy = false
        await ending
        await pause(100) // until the pool has read which of them have ended

        for (const [n, outcome] of outcomes.entries()) {
          if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(REFUSED)
          else expect(await issuesOn(storage, boards[n] ?? BOARD)).toEqual(['1'])
        }
        // No place in the pool is lost: each of its connections works again.
        const again = Array.from({ length: 8 }, (_, n) =>
          pin(storage, { ...BOARD, repositoryId: String(200 + n) }, '1'),
        )
        expect(await Promise.all(again)).toEqual(Array.from({ length: 8 }, () => 1))
      }))

    test('under a transaction of the host leave nothing of it', (context) =>
      onEach(context, async ({ storage, begin }, database, open) => {
        const { transaction, commit } = await begin()
        listenOn(transaction)
        await pin(storage, BOARD, '1', { transaction })
        await kind.endConnections(database)

        await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(NOTHING_DONE)
        await commit().catch(() => undefined)
        expect(await issuesOn(open(database.url).storage, BOARD)).toEqual([])
      }))

    for (const [fact, moment, issues] of [
      ['before it came to the server', 'before', []],
      ['after it came to the server', 'after', ['1']],
    ] as const) {
      test(`under a COMMIT, ${fact}, leave its outcome unknown`, (context) =>
        onEach(context, async ({ storage }, database, open) => {
          const cut = await cutAtCommit(database.url, moment, kind.commit)
          context.onTestFinished(cut.end)

          await expect(pin(open(cut.url).storage, BOARD, '1', LOCKING)).rejects.toMatchObject(UNKNOWN)
          expect(await issuesOn(storage, BOARD)).toEqual(issues)
        }))
    }
  })

  describe('a host', () => {
    test('whose own code fails elsewhere in beforeCommit gets his own error', (context) =>
      onEach(context, async ({ storage }) => {
        const error = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:25'), { code: 'ECONNREFUSED' })

        await expect(pin(storage, BOARD, '1', { beforeCommit: () => Promise.reject(error) })).rejects.toBe(error)
        expect(await issuesOn(storage, BOARD)).toEqual([])
      }))

    test('that has ended its pool has made the storage unavailable', (context) =>
      onEach(context, async ({ name, storage, end }) => {
        if (name === 'a URL') return
        await pin(storage, BOARD, '1')
        await end()

        await expect(pin(storage, BOARD, '2')).rejects.toMatchObject({
          ...NOTHING_DONE,
          details: { outcome: 'nothing-done', closed: true },
        })
      }))

    test('that keeps every connection is waited for, and no longer than five seconds', (context) =>
      onEach(context, async ({ name }, database, open) => {
        if (name === 'a URL') return
        const { storage, begin } = open(database.url, 1)
        const { commit } = await begin()
        const calls: readonly Promise<unknown>[] = [issuesOn(storage, BOARD), pin(storage, BOARD, '1')]

        for (const outcome of await inTime(Promise.allSettled(calls))) expect(outcome).toMatchObject({ reason: BUSY })
        await commit()
        expect(await issuesOn(storage, BOARD)).toEqual([])
      }))
  })

  // Each waits for five seconds, so they run at once.
  describe.concurrent('connections that fall silent', () => {
    const onSilent = (
      context: TestContext,
      work: (use: ServerUse & { readonly proxy: SilentProxy }) => Promise<void>,
      connections = 2,
    ) =>
      onEach(context, async (_use, database, open) => {
        const proxy = await silentProxy(database.url)
        context.onTestFinished(proxy.end)
        await work({ ...open(proxy.url, connections), proxy })
      })

    test('answer by the deadline, and the next calls use new ones', (context) =>
      onSilent(context, async ({ name, storage, proxy, begin }) => {
        if (name === 'a Kysely') return // it hides what could be destroyed
        if (name === 'a pool')
          for (const { commit } of [await begin(), await begin()]) await commit() // opened by the host
        else await Promise.all([pin(storage, BOARD, '1'), pin(storage, BOARD, '2')])
        proxy.silence()
        const calls = [pin(storage, BOARD, '3'), ...Array.from({ length: 13 }, () => issuesOn(storage, BOARD))]

        const refused = { ...REFUSED, message: expect.not.stringContaining('enlarge') }
        for (const call of await inTime(Promise.allSettled(calls))) expect(call).toMatchObject({ reason: refused })
        proxy.revive()
        for (let n = 0; n <= 2; n += 1) await pin(storage, BOARD, `4${n}`)
        expect((await issuesOn(storage, BOARD)).filter((id) => id.startsWith('4'))).toHaveLength(3)
      }))

    test('leave the outcome of a COMMIT unknown', (context) =>
      onSilent(context, async ({ name, storage, proxy }) => {
        await pin(storage, BOARD, '1')
        proxy.silenceAt(kind.commit)

        await expect(inTime(pin(storage, BOARD, '2', LOCKING))).rejects.toMatchObject(UNKNOWN)
        proxy.revive()
        if (name === 'a Kysely') return // its pool has lost a connection
        await pin(storage, BOARD, '3')
        expect(await issuesOn(storage, BOARD)).toEqual(['1', '3'])
      }))

    test('leave the outcome of a COMMIT unknown after five seconds also where a call may take longer', (context) =>
      onSilent(context, async ({ storage, proxy }) => {
        await block(storage, '20', '30')
        proxy.silenceAt(kind.commit)

        await expect(inTime(retire(storage, { thing: 'user', userId: '30' }))).rejects.toMatchObject(UNKNOWN)
      }))

    test('end a transaction of the host’s for the forge', (context) =>
      onSilent(context, async ({ name, storage, proxy, begin }) => {
        if (name === 'a URL') return
        const { transaction } = await begin()
        await pin(storage, BOARD, '1', { transaction })
        proxy.silence()

        await expect(inTime(pin(storage, BOARD, '2', { transaction }))).rejects.toMatchObject(RUN_AGAIN)
        await expect(inTime(issuesOn(storage, BOARD, transaction))).rejects.toMatchObject(RUN_AGAIN)
      }))

    test('may be so from the beginning', (context) =>
      onSilent(context, async ({ name, storage, proxy }) => {
        if (name !== 'a URL') return // a host's pool gives up by its own limits
        proxy.silence()
        const calls = [pin(storage, BOARD, '1'), issuesOn(storage, BOARD)]

        for (const call of await inTime(Promise.allSettled(calls))) expect(call).toMatchObject({ reason: REFUSED })
        proxy.revive()
        await pin(storage, BOARD, '2')
        expect(await issuesOn(storage, BOARD)).toEqual(['2'])
      }))

    test('do not keep close() from ending', (context) =>
      onSilent(context, async ({ storage, proxy }) => {
        await pin(storage, BOARD, '1')
        proxy.silence()
        const call = Promise.allSettled([pin(storage, BOARD, '2')])

        await inTime(storage.close())
        expect(await call).toMatchObject([{ reason: REFUSED }])
      }))
  })

  // Each waits for the server, so they run at once.
  describe.concurrent('a machine that falls silent in the middle of a change', () => {
    const onVanishing = (
      context: TestContext,
      work: (use: ServerUse, others: ServerUse, proxy: SilentProxy) => Promise<void>,
    ) =>
      onEach(context, async ({ name }, database, open) => {
        if (kind.name === 'MariaDB' && name !== 'a URL') return // there a host's pool has the limits of the host

        const proxy = await silentProxy(database.url)
        context.onTestFinished(proxy.end)
        const use = open(proxy.url, 2)
        await issuesOn(use.storage, BOARD)
        await work(use, open(database.url), proxy)
      })

    test('keeps its board for nine seconds at most', (context) =>
      onVanishing(context, async ({ storage }, { storage: others }, proxy) => {
        const silent = deferred()
        const beforeCommit = () => {
          proxy.silence()
          silent.resolve()
        }
        const lost = Promise.allSettled([pin(storage, BOARD, '1', { beforeCommit })])
        await silent.promise
        const start = performance.now()
        await patiently(() => pin(others, BOARD, '2'))

        expect(performance.now() - start).toBeLessThan(FREE_AFTER)
        expect(await issuesOn(others, BOARD)).toEqual(['2'])
        expect(await lost).toMatchObject([{ reason: { code: 'STORAGE_UNAVAILABLE' } }])
      }))

    test('has lost the change, and can make others, if it comes back', (context) =>
      onVanishing(context, async ({ storage }, { storage: others }) => {
        await define(storage, 'gold')
        // The removal of a badge may take minutes, and its `beforeCommit` with it.
        const removing = removeBadgeWith(storage, () => patiently(() => removeBadge(others, 'gold')))

        await expect(removing).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
        await pin(storage, BOARD, '1')
        expect(await issuesOn(storage, BOARD)).toEqual(['1'])
        expect((await outbox(others)).filter(({ type }) => type === 'badge.removed')).toHaveLength(1)
      }))
  })

  // Most wait for five seconds, so they run at once.
  describe.concurrent('the deadline of a call', () => {
    test('covers the waits for all of its locks', (context) =>
      onEach(context, async ({ storage }, database) => {
        const organizations = ['1', '2', '3', '4', '5']
        for (const organization of organizations) await block(storage, organization, '90')
        const holders: HostConnection[] = []
        for (const organization of organizations) holders.push(await held(kind, database, 'organization', organization))
        const releasing = setInterval(() => void holders.shift()?.run('rollback'), 3500)
        const retiring = retire(storage, { thing: 'user', userId: '90' })

        await expect(inTime(retiring)).rejects.toMatchObject(REFUSED)
        clearInterval(releasing)
        for (const holder of holders) await holder.run('rollback')
        expect(await blockedBy(storage, '1')).toEqual(['90'])
      }))

    test('leaves a lock the time that the wait for a connection has left', (context) =>
      onEach(context, async ({ name }, database, open) => {
        if (name === 'a URL') return
        const { storage, begin } = open(database.url, 1)
        await pin(storage, BOARD, '1')
        const holder = await held(kind, database, 'issueBoard', BOARD.repositoryId)
        const { commit } = await begin() // on the only connection
        const returned = pause(2000).then(commit)

        await expect(inTime(pin(storage, BOARD, '2'))).rejects.toMatchObject(BUSY)
        await returned
        await holder.run('rollback')
      }))

    test('covers a beforeCommit, and nothing of the change is done', (context) =>
      onEach(context, async ({ storage }) => {
        const beforeCommit = () => new Promise<void>(() => undefined)

        await expect(inTime(pin(storage, BOARD, '1', { beforeCommit }))).rejects.toMatchObject(NOTHING_DONE)
        expect(await issuesOn(storage, BOARD)).toEqual([])
      }))

    test('holds in a transaction of the host’s, and what was done late is taken back', (context) =>
      onEach(context, async ({ storage, begin }, database) => {
        const holder = await held(kind, database, 'issueBoard', BOARD.repositoryId)
        const { transaction, commit } = await begin()

        await expect(inTime(pin(storage, BOARD, '1', { transaction }))).rejects.toMatchObject(RUN_AGAIN)
        const committing = commit() // a host that does not heed the error
        await holder.run('rollback')
        await committing
        expect(await issuesOn(storage, BOARD)).toEqual([])
      }))

    test(
      'is later where much is removed, and only there',
      (context) =>
        onEach(context, async ({ storage }, database) => {
          for (const sql of slowly(kind, 'delete', 'organization_blocks', 6)) await database.run(sql)
          for (const sql of slowly(kind, 'insert', 'board_pins', 20)) await database.run(sql)
          await block(storage, '20', '9')
          const removing = retire(storage, { thing: 'organization', organizationId: '20' })

          await expect(inTime(pin(storage, BOARD, '1'))).rejects.toMatchObject(REFUSED)
          expect(await removing).toHaveLength(1)
          for (const table of ['organization_blocks', 'board_pins']) {
            await database.run(`drop trigger slow_${table}${kind.name === 'MariaDB' ? '' : ` on forgelet_${table}`}`)
          }
        }),
      90_000,
    )
  })

  /** The ways to use a storage as a user with so many connections at most, none of which is open yet. */
  const onLimited = (
    context: TestContext,
    limit: number,
    work: (use: ServerUse, url: string) => Promise<void>,
    pool = 10,
  ) =>
    onEach(context, async (_use, database, open) => {
      const url = await kind.limitedUser(database, limit, context.onTestFinished)
      await work(open(url, pool), url)
    })

  test('a server that accepts one connection of the user is enough for every call', (context) =>
    onLimited(context, 1, async ({ storage }) => {
      // Each board has a lock of its own, so that the calls wait for nothing but the connection.
      const boards = Array.from({ length: 6 }, (_, n) => ({ ...BOARD, repositoryId: `${n}` }))
      for (const issueId of ['1', '2', '3']) {
        const calls = boards.flatMap((board) => [pin(storage, board, issueId), issuesOn(storage, board)])
        expect((await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected')).toEqual([])
      }

      for (const board of boards) expect(await issuesOn(storage, board)).toEqual(['1', '2', '3'])
    }))

  describe.concurrent('a server that accepts no more connections of the user', () => {
    test('refuses at once what is asked while others have them', (context) =>
      onLimited(context, 1, async ({ storage }, url) => {
        const other = await kind.connect(url)
        context.onTestFinished(async () => void (await other.end()))
        const start = performance.now()
        const calls = Array.from({ length: 20 }, () => issuesOn(storage, BOARD))

        for (const answer of await Promise.allSettled(calls)) {
          expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_UNAVAILABLE' } })
        }
        expect(performance.now() - start).toBeLessThan(AT_ONCE)
      }))

    test('is waited for, and a larger pool is not asked for', (context) =>
      onLimited(context, 1, async ({ storage }) => {
        await define(storage, 'gold')
        const [held, free] = [deferred(), deferred()]
        const removing = removeBadgeWith(storage, () => {
          held.resolve()
          return free.promise
        })
        await held.promise

        await expect(inTime(issuesOn(storage, BOARD))).rejects.toMatchObject({
          ...BUSY,
          message: expect.not.stringContaining('enlarge'),
        })
        free.resolve()
        await removing
        expect(await issuesOn(storage, BOARD)).toEqual([])
      }))

    test('is not the reason if the pool is too small', (context) =>
      onLimited(
        context,
        2,
        async ({ name, storage }) => {
          if (name !== 'a pool') return // Kysely hands the connection of a call that is over to the next, in its last millisecond
          const boards = Array.from({ length: 5 }, (_, n) => ({ ...BOARD, repositoryId: `${n}` }))
          const calls = boards.map((board) => pin(storage, board, '1', { beforeCommit: () => pause(1500) }))

          expect(await Promise.allSettled(calls)).toContainEqual({
            status: 'rejected',
            reason: expect.objectContaining({ ...BUSY, message: expect.stringContaining('enlarge the pool') }),
          })
        },
        1,
      ))
  })
})

/** Removes the badge `gold`, which may take minutes. */
function removeBadgeWith(storage: ServerUse['storage'], beforeCommit: () => Promise<unknown>) {
  const removed = { ...NO_SUBJECT, type: 'badge.removed', data: { slug: 'gold' } } as const
  return change(
    storage.badgeCatalogue,
    { slug: 'gold' },
    (entry) => ({ state: { ...entry, badge: undefined }, events: [removed], result: undefined }),
    { beforeCommit: async () => void (await beforeCommit()) },
  )
}

/** Makes a call again while others hold its locks. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY')) throw error
    }
  }
}

/** The host listens for the errors of the clients that it opens by itself. */
function listenOn(transaction: unknown): void {
  if (transaction instanceof EventEmitter) transaction.on('error', () => undefined)
}

/** Waits for something that must not take longer than a call may. */
async function inTime<T>(call: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('there was no answer in time')), FIVE_SECONDS_AND_ROOM).unref()
  })
  return Promise.race([call, late])
}

/** A transaction of the host's that holds the lock of one head until it is rolled back. */
async function held(kind: ServerKind, database: Below, scope: string, key: string) {
  const column = kind.name === 'PostgreSQL' ? '"key"' : '`key`'
  const holder = await database.connect()
  await holder.run('begin')
  const where = `where scope = '${scope}' and ${column} = '${key}'`
  const found = await holder.run(`select 1 as found from forgelet_heads ${where} for update`)
  if (found.length > 0) return holder

  const columns = `scope, ${column}, version, epoch, retired, total, next_seq`
  await holder.run(`insert into forgelet_heads (${columns}) values ('${scope}', '${key}', 0, 0, 0, 0, 1)`)
  return holder
}

/** Makes a kind of change of a table take its time. */
function slowly(kind: ServerKind, change: 'insert' | 'delete', table: string, seconds: number): readonly string[] {
  const head = `create trigger slow_${table} before ${change} on forgelet_${table} for each row`
  if (kind.name === 'MariaDB') return [`${head} begin declare slept int; set slept = sleep(${seconds}); end`]

  const body = `begin perform pg_sleep(${seconds}); return ${change === 'insert' ? 'new' : 'old'}; end`
  return [
    `create or replace function slow_${table}() returns trigger language plpgsql as '${body}'`,
    `${head} execute function slow_${table}()`,
  ]
}
