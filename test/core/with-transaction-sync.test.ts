import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { instrumentStorage } from '../../src/core/instrument-storage.ts'
import type { Forge, ForgeOptions, IssueRecord } from '../../src/index.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { forgeOn } from '../storage/forge-on.ts'
import type { Person } from './a-forge.ts'
import { olga } from './a-forge.ts'
import { MemoryTracker } from './exchange/memory-tracker.ts'
import { anIssue } from './exchange/records.ts'

type Handle = Database.Database
type Options = Partial<Omit<ForgeOptions<Person, Handle>, 'storage'>>

const issue = (id: number) => ({ id, repositoryId: 10, kind: 'issue' }) as const
const board = { repositoryId: 10, kind: 'issue' } as const

/** A storage that notes the operations that it is asked for. */
function watched(storage: ForgeStorage<Handle>) {
  const seen: string[] = []
  return { seen, storage: instrumentStorage(storage, ({ operation }) => void seen.push(operation)) }
}

// What every transaction of a host does is in test/storage/host-transactions.ts.
describe('withTransactionSync', () => {
  let handle: Handle

  beforeEach(() => {
    handle = new Database(':memory:')
  })

  afterEach(() => void handle.close())

  const open = async (options?: Options): Promise<Forge<Person, Handle>> => forgeOn(await migrated(), options)

  async function migrated(): Promise<ForgeStorage<Handle>> {
    const storage = sqliteStorage(handle)
    await storage.migrate()
    return storage
  }

  test.each<[what: string, calls: readonly string[], options: Options, load: (() => Promise<never[]>) | undefined]>([
    ['port', [], { policy: { authorize: async () => ({ allow: true }) } }, undefined],
    ['storage', ['load'], {}, async () => []],
  ])('refuses a %s that answers with a promise, and calls nothing behind it', async (_what, calls, options, load) => {
    const inner = await migrated()
    const { storage, seen } = watched({ ...inner, pinBoards: { ...inner.pinBoards, ...(load && { load }) } })
    const forge = forgeOn(storage, options)
    seen.length = 0 // leaves out what createForge has called
    handle.exec('begin immediate')
    expect(() => forge.withTransactionSync(handle, ({ pins }) => pins.list(olga, board))).toThrow(
      new TypeError(
        'a promise was returned where a value is required: inside withTransactionSync every port must return a value, and on a synchronous storage (memory, SQLite, a Durable Object) beforeCommit and, in an import, the tracker must too',
      ),
    )
    await new Promise((resolve) => setImmediate(resolve))
    handle.exec('commit')
    expect(seen).toEqual(['checkTransaction', ...calls])
    await forge.close()
  })

  test('imports records that do not wait, inspects what was imported there, and has no export', async () => {
    const tracker = new MemoryTracker<Person>()
    const forge = await open({ issues: tracker })
    async function* waiting() {
      yield anIssue(1)
    }
    const asking = (records: Iterable<IssueRecord>) => () =>
      forge.withTransactionSync(handle, ({ exchange }) => {
        const request = { repositoryId: 10, records }
        exchange.import(olga, request)
        return [exchange.inspect(olga, request).issues, Object.keys(exchange)]
      })
    handle.exec('begin immediate')

    expect(Reflect.apply(asking, undefined, [waiting()])).toThrow(
      'request.records must be an iterable that does not wait',
    )
    expect(tracker.asked).toEqual([])
    expect(asking([anIssue(1)])().value).toEqual([
      { created: 0, updated: 0, unchanged: 1, skipped: 0 },
      ['import', 'inspect', 'reattribute'],
    ])
    handle.exec('rollback')
    await forge.close()
  })

  test('refuses work that answers with a promise', async () => {
    const forge = await open()
    const work = (async () => 1) as unknown as () => number
    handle.exec('begin immediate')
    expect(() => forge.withTransactionSync(handle, work)).toThrow('the work of withTransactionSync returned a promise')
    handle.exec('rollback')
    await forge.close()
  })

  test('is to be run again by the host when lifecycle calls never stop coming in between', async () => {
    const forge: Forge<Person, Handle> = await open({
      membership: {
        isMember({ organizationId }) {
          const member = { organizationId, userId: '77' }
          forge.withTransactionSync(handle, (services) => services.lifecycle.memberAdded(member))
          return false
        },
      },
    })
    const target = { organizationId: 5, account: { kind: 'user', id: 9 } } as const
    const work = handle.transaction(() =>
      forge.withTransactionSync(handle, (services) => services.blocks.block(olga, target)),
    )
    expect(() => work.immediate()).toThrow(
      expect.objectContaining({ code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }),
    )
    await forge.close()
  })

  test('refuses a plain change while the host is inside its transaction', async () => {
    const forge = await open()
    handle.exec('begin immediate')
    await expect(forge.pins.pin(olga, issue(1))).rejects.toThrow('withTransactionSync')
    handle.exec('rollback')
    await forge.close()
  })
})
