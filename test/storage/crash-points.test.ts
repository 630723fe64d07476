import assert from 'node:assert/strict'
import type Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { AGGREGATES, everything, fill, reads } from '../../src/testing/storage-contract/samples/aggregates.ts'
import { define } from '../../src/testing/storage-contract/samples/badges.ts'
import { outbox } from '../../src/testing/storage-contract/samples/outbox.ts'
import { retire, THINGS } from '../../src/testing/storage-contract/samples/retirements.ts'
import type { Extras } from '../../src/testing/storage-contract/samples/sample.ts'
import { sqliteInMemoryKind } from '../databases.ts'
import { storageKind } from './storage-kind.ts'

/** Fails behind one statement of a change. */
class CrashPoint {
  readonly error: Error = new Error('the crash of a test')
  #left = Number.POSITIVE_INFINITY

  /** Lets every statement of a handle that reads or writes rows pass by here when it has run. */
  watch(handle: Database.Database): Database.Database {
    const prepare = handle.prepare.bind(handle)
    const pass = <T>(rows: T): T => {
      this.#left -= 1
      if (this.#left === 0) throw this.error
      return rows
    }
    const watched = (sql: string) => {
      const statement = prepare(sql)
      if (!/^\s*(select|insert|update|delete|with)\b/i.test(sql)) return statement

      for (const name of ['all', 'get', 'run'] as const) {
        const call: (...values: unknown[]) => unknown = statement[name].bind(statement)
        Reflect.set(statement, name, (...values: unknown[]) => pass(call(...values)))
      }
      return statement
    }
    Reflect.set(handle, 'prepare', watched)
    return handle
  }

  /** Lets the next change fail behind its statement of this number, or none. */
  set(statement = Number.POSITIVE_INFINITY): void {
    this.#left = statement
  }
}

/** A change to crash, over and over again. */
interface Crashing {
  readonly change: string
  prepare<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
  run<Tx>(storage: ForgeStorage<Tx>, extras: Pick<Extras<Tx>, 'transaction'>): Promise<unknown>
}

const CHANGES: readonly Crashing[] = [
  ...AGGREGATES.map((one) => ({
    change: `a change of ${one.name}`,
    prepare: <Tx>(storage: ForgeStorage<Tx>) => one.prepare(storage),
    run: <Tx>(storage: ForgeStorage<Tx>, extras: Pick<Extras<Tx>, 'transaction'>) => one.alter(storage, extras),
  })),
  ...THINGS.map((retired) => ({
    change: `retiring the ${retired.thing}`,
    prepare: <Tx>(storage: ForgeStorage<Tx>) => fill(storage),
    run: <Tx>(storage: ForgeStorage<Tx>, extras: Pick<Extras<Tx>, 'transaction'>) => retire(storage, retired, extras),
  })),
]

const crash = new CrashPoint()
const { open, host, end } = storageKind(
  sqliteInMemoryKind((fileOrHandle, options) =>
    sqliteStorage(typeof fileOrHandle === 'string' ? fileOrHandle : crash.watch(fileOrHandle), options),
  ),
)
afterAll(end)

// Others see all of a change, or nothing.
for (const { change, prepare, run } of CHANGES) {
  test(`${change} that fails behind any of its statements is not written`, async () => {
    const storage = await open()
    await prepare(storage)
    const before = await everything(storage)
    const look = async () => expect(await everything(storage)).toEqual(before)
    const failures = await crashAtEach(() => run(storage, {}), look)

    expect(failures).toBeGreaterThan(2)
    expect(await outbox(storage)).toHaveLength(before.events.length + 1)
    await storage.close()
  })

  test(`in a host’s transaction, ${change} that fails behind any of its statements leaves the rest`, async () => {
    const storage = await open()
    await prepare(storage)
    const before = await everything(storage)
    const begun = await host.begin?.(storage)
    assert(begun !== undefined)
    const { transaction } = begun
    await define(storage, 'kept', { transaction })
    const inside = await everythingOn(storage, transaction)
    const look = async () => expect(await everythingOn(storage, transaction)).toEqual(inside)
    const failures = await crashAtEach(() => run(storage, { transaction }), look)
    await begun.rollback()

    expect(failures).toBeGreaterThan(2)
    expect(await everything(storage)).toEqual(before)
    await storage.close()
  })
}

/** Lets work fail behind its first statement, then its second …, until it succeeds; gives how often it failed. */
async function crashAtEach(work: () => Promise<unknown>, look: () => Promise<void>): Promise<number> {
  for (let statement = 1; ; statement += 1) {
    crash.set(statement)
    const outcome = await outcomeOf(work)
    crash.set()
    if ('value' in outcome) return statement - 1

    expect(outcome.thrown).toBe(crash.error)
    await look()
  }
}

/** What a transaction of the host's sees. */
async function everythingOn<Tx>(storage: ForgeStorage<Tx>, transaction: Tx): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  for (const [, read] of reads(storage, transaction)) seen.push(await read())
  return seen
}
