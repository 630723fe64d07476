import type { TestContext } from 'vitest'
import { describe, expect, test } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { blockedBy, issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, block, pin, retire } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onServer } from '../../databases/servers.ts'
import { AT_ONCE, FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import { newDatabase, POSTGRES, SERVER_KINDS } from './server-databases.ts'
import type { SilentProxy } from './silent-proxy.ts'
import { silentProxy } from './silent-proxy.ts'
import type { HostTransaction, OpenUse, StorageUse } from './storage-uses.ts'
import { storageUses } from './storage-uses.ts'

const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }
const LOST = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }
const CONNECTIONS = 2

for (const kind of SERVER_KINDS) {
  const uses = storageUses(kind)
  const hosts = uses.filter(({ name }) => name !== 'a URL')

  onServer(kind.server, (server) => {
    // Each waits for five seconds, so they run at once.
    describe.concurrent('connections that fall silent', () => {
      test('answer by the deadline, and the next calls use new ones', (context) =>
        onEach(context, uses, async ({ storage, proxy }) => {
          await Promise.all([pin(storage, BOARD, '1'), pin(storage, BOARD, '2')])
          proxy.silence()
          const calls = [pin(storage, BOARD, '3'), issuesOn(storage, BOARD), blockedBy(storage, '5')]

          expect(await measured(Promise.all(calls.map(codeOf)))).toEqual(calls.map(() => NOTHING_DONE))
          proxy.revive()
          for (let n = 0; n <= CONNECTIONS; n += 1) await pin(storage, BOARD, `4${n}`)
          expect(await issuesOn(storage, BOARD)).toHaveLength(5)
        }))

      test('are replaced also if the host has opened them', (context) =>
        onEach(context, hosts, async ({ storage, proxy, begin }) => {
          const begun = [await begin(), await begin()]
          for (const { commit } of begun) await commit()
          proxy.silence()
          const calls = [pin(storage, BOARD, '1'), issuesOn(storage, BOARD)]

          expect(await measured(Promise.all(calls.map(codeOf)))).toEqual(calls.map(() => NOTHING_DONE))
          proxy.revive()
          for (let n = 0; n <= CONNECTIONS; n += 1) await pin(storage, BOARD, `2${n}`)
          expect(await issuesOn(storage, BOARD)).toHaveLength(CONNECTIONS + 1)
        }))

      test('leave the outcome of a COMMIT unknown', (context) =>
        onEach(context, uses, async ({ storage, proxy }) => {
          await pin(storage, BOARD, '1')
          proxy.silenceAt(kind === POSTGRES ? 'commit\0' : '\x03commit')

          await expect(measured(pin(storage, BOARD, '2'))).rejects.toMatchObject(UNKNOWN)
          proxy.revive()
          await pin(storage, BOARD, '3')
          expect(await issuesOn(storage, BOARD)).toEqual(['1', '3'])
        }))

      test('leave the outcome of a COMMIT unknown after five seconds also where a call may take longer', (context) =>
        onEach(context, uses, async ({ storage, proxy }) => {
          await block(storage, '20', '30')
          proxy.silenceAt(kind === POSTGRES ? 'commit\0' : '\x03commit')

          const retiring = retire(storage, { thing: 'user', userId: '30' })
          await expect(measured(retiring)).rejects.toMatchObject(UNKNOWN)
        }))

      test('end a transaction of the host’s for the forge', (context) =>
        onEach(context, hosts, async ({ storage, proxy, begin }) => {
          const { transaction } = await begin()
          await pin(storage, BOARD, '1', { transaction })
          proxy.silence()

          await expect(measured(pin(storage, BOARD, '2', { transaction }))).rejects.toMatchObject(LOST)
          const start = performance.now()
          await expect(issuesOn(storage, BOARD, transaction)).rejects.toMatchObject(LOST)
          expect(performance.now() - start).toBeLessThan(AT_ONCE)
        }))

      test('may be so from the beginning', (context) =>
        onEach(context, uses.slice(0, 1), async ({ storage, proxy }) => {
          proxy.silence()
          const calls = [pin(storage, BOARD, '1'), issuesOn(storage, BOARD)]

          expect(await measured(Promise.all(calls.map(codeOf)))).toEqual([NOTHING_DONE, NOTHING_DONE])
          proxy.revive()
          await pin(storage, BOARD, '2')
          expect(await issuesOn(storage, BOARD)).toEqual(['2'])
        }))

      test('do not keep close() from ending', (context) =>
        onEach(context, uses, async ({ storage, proxy }) => {
          await pin(storage, BOARD, '1')
          proxy.silence()
          const call = codeOf(pin(storage, BOARD, '2'))

          await measured(storage.close())
          expect(await call).toBe(NOTHING_DONE)
        }))
    })

    /** Runs a test at once on storages that reach the server in several ways, each through a proxy of its own. */
    async function onEach(
      { onTestFinished }: TestContext,
      among: readonly StorageUse[],
      work: (opened: Opened) => Promise<void>,
    ): Promise<void> {
      const open = async (use: StorageUse): Promise<Opened> => {
        const database = await newDatabase(kind, server, onTestFinished)
        await migrated(use.open(database.url, CONNECTIONS))
        const proxy = await silentProxy(database.url, kind === POSTGRES ? 5432 : 3306)
        const { storage, begin = notThere, end } = use.open(proxy.url, CONNECTIONS)
        onTestFinished(async () => {
          await storage.close()
          end()
          proxy.end()
        })
        return { storage, proxy, begin }
      }
      const opened = await Promise.all(among.map(open))
      await Promise.all(opened.map(work))
    }
  })
}

interface Opened {
  readonly storage: ForgeStorage<unknown>
  readonly begin: () => Promise<HostTransaction>
  readonly proxy: SilentProxy
}

const NOTHING_DONE = 'refused, nothing done'

/** Both say that nothing was done: one has waited for the database, the other for a connection. */
async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'answered',
    ({ code, details }) =>
      (code === 'STORAGE_UNAVAILABLE' && details.outcome === 'nothing-done') ||
      (code === 'STORAGE_BUSY' && details.retry === 'call')
        ? NOTHING_DONE
        : code,
  )
}

/** Waits for something that must not take longer than a call may. */
async function measured<T>(call: Promise<T>): Promise<T> {
  const start = performance.now()
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('there was no answer in time')), FIVE_SECONDS_AND_ROOM).unref()
  })
  try {
    return await Promise.race([call, late])
  } finally {
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
  }
}

async function migrated({ storage, end }: OpenUse): Promise<void> {
  await storage.migrate()
  await storage.close()
  end()
}

function notThere(): never {
  throw new TypeError('the host has no connections')
}
