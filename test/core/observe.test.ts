import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { instrumentStorage } from '../../src/core/instrument-storage.ts'
import type { ForgeOptions, ObservedOperation } from '../../src/index.ts'
import { ForgeError } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { forgeOn } from '../storage/forge-on.ts'
import type { Person } from './a-forge.ts'
import { aForge, olga } from './a-forge.ts'

const issue = { id: 1, repositoryId: 10, kind: 'issue' } as const
const board = { repositoryId: '10', kind: 'issue' } as const

/** A forge, and what its observer is told. */
function observed(options: Partial<ForgeOptions<Person, undefined>> = {}) {
  const reported: ObservedOperation[] = []
  return { forge: aForge({ observer: { operation: (seen) => reported.push(seen) }, ...options }), reported }
}

const named = (reported: readonly ObservedOperation[]) =>
  reported.map(({ store, operation, outcome }) => `${store}.${operation} ${outcome}`)

describe('a forge with an observer', () => {
  test('reports each operation of its storage', async () => {
    const { forge, reported } = observed()
    await forge.pins.pin(olga, issue)
    await forge.events.read()
    await forge.close()

    expect(named(reported)).toEqual(['pinBoards.update done', 'events.read done', 'storage.close done'])
    expect(reported[0]).toEqual({
      store: 'pinBoards',
      operation: 'update',
      milliseconds: expect.any(Number),
      outcome: 'done',
      code: undefined,
    })
  })

  test('reports the operations of withTransactionSync, which stay synchronous', async () => {
    const handle = new Database(':memory:')
    onTestFinished(() => void handle.close())
    const storage = sqliteStorage(handle)
    await storage.migrate()
    const reported: string[] = []
    const observer = { operation: ({ store, operation }: ObservedOperation) => reported.push(`${store}.${operation}`) }
    const forge = forgeOn(storage, { observer })
    const result = handle
      .transaction(() => forge.withTransactionSync(handle, ({ pins }) => pins.pin(olga, issue)))
      .immediate()

    expect(result.value.position).toBe(1)
    expect(reported).toEqual(['storage.checkTransaction', 'pinBoards.update'])
  })
})

describe('an observer that fails', () => {
  test.each([
    ['throws', () => thrown()],
    ['rejects', async () => thrown()],
  ])('changes nothing, and is warned of once, where it %s', async (_how, observe) => {
    const warnings: unknown[] = []
    const logger = { error: thrown, warn: (...line: unknown[]) => void warnings.push(line) }
    const forge = aForge({ observer: { operation: observe }, logger })
    await forge.pins.pin(olga, issue)
    await forge.pins.pin(olga, { ...issue, id: 2 })

    expect(warnings).toEqual([[expect.stringContaining('the observer failed'), { error: new Error('no metrics') }]])
    expect(await forge.pins.list(olga, issue)).toHaveLength(2)
  })
})

test.each<[clocks: string, options: Partial<ForgeOptions<Person, undefined>>, readings: number]>([
  ['no clock is read without an observer', {}, 0],
  ['no clock is read for an observer of requests', { observer: { request: () => undefined } }, 0],
  ['a clock is read before and after each operation', { observer: { operation: () => undefined } }, 2],
])('%s', async (_clocks, options, readings) => {
  const { pins } = aForge(options)
  const now = vi.spyOn(performance, 'now')
  await pins.pin(olga, issue)
  const read = now.mock.calls.length
  now.mockRestore()

  expect(read).toBe(readings)
})

function thrown(): never {
  throw new Error('no metrics')
}

function instrumented(inner: ForgeStorage<undefined> = memoryStorage()) {
  const reported: ObservedOperation[] = []
  return { storage: instrumentStorage(inner, (seen) => void reported.push(seen)), reported }
}

describe('an observed storage', () => {
  const methods = methodsOf(memoryStorage())

  test.each(methods)('calls %s.%s of the storage with every argument, and reports it', (store, operation) => {
    const asked: unknown[] = []
    const inner = memoryStorage()
    const owner = store === 'storage' ? inner : Reflect.get(inner, store)
    Reflect.set(owner, operation, function answer(this: unknown, ...given: unknown[]) {
      asked.push(this, ...given)
      return undefined
    })
    Object.freeze(owner)
    const { storage, reported } = instrumented(Object.freeze(inner))
    const observedOwner = store === 'storage' ? storage : Reflect.get(storage, store)
    Reflect.apply(Reflect.get(observedOwner, operation), undefined, ['one', 'two', 'three', 'four'])

    expect(asked).toEqual([owner, 'one', 'two', 'three', 'four'])
    expect(asked[0]).toBe(owner)
    expect(reported).toMatchObject([{ store, operation, outcome: 'done', code: undefined }])
  })

  test('reports an operation when it has ended, and how long it took', async () => {
    const inner = memoryStorage()
    const load = () => new Promise<never[]>((resolve) => setTimeout(() => resolve([]), 30))
    const { storage, reported } = instrumented({ ...inner, pinBoards: { ...inner.pinBoards, load } })
    const loading = storage.pinBoards.load(board)
    expect(reported).toEqual([])
    await loading

    expect(reported).toHaveLength(1)
    expect(reported[0]?.milliseconds).toBeGreaterThan(25)
    expect(reported[0]?.milliseconds).toBeLessThan(5000)
  })

  const gone = AbortSignal.abort()
  test.each([
    ['aborted', undefined, gone.reason, gone],
    ['failed', undefined, gone.reason, undefined],
    ['refused', 'PIN_LIMIT_REACHED', new ForgeError('PIN_LIMIT_REACHED', 'full', { kind: 'issue', limit: 0 }), gone],
    ['failed', 'STORAGE_BUSY', new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }), gone],
    ['failed', 'STORAGE_UNAVAILABLE', new ForgeError('STORAGE_UNAVAILABLE', 'away', { outcome: 'unknown' }), undefined],
    ['failed', 'SCHEMA_OUTDATED', new ForgeError('SCHEMA_OUTDATED', 'old', { found: 1, needed: 2 }), undefined],
    ['failed', 'SCHEMA_CONFLICT', new ForgeError('SCHEMA_CONFLICT', 'taken', { name: 'x_pins' }), undefined],
    ['failed', 'SCHEMA_TOO_NEW', new ForgeError('SCHEMA_TOO_NEW', 'new', { found: 3, oldestLibrary: 2 }), undefined],
    ['failed', undefined, new Error('a fault'), undefined],
    ['failed', undefined, 'a string', undefined],
  ])('reports what ends in an error as %s, with the code %s: %s', async (outcome, code, error, signal) => {
    const inner = memoryStorage()
    const update = () => Promise.reject(error)
    const { storage, reported } = instrumented({ ...inner, pinBoards: { ...inner.pinBoards, update } })
    const updated = Reflect.apply(storage.pinBoards.update, undefined, [board, { signal }])

    await expect(updated).rejects.toBe(error)
    expect(reported).toMatchObject([{ store: 'pinBoards', operation: 'update', outcome, code }])
  })
})

/** Of a storage and its stores, every method that a storage has. */
function methodsOf(storage: ForgeStorage<undefined>): readonly (readonly [store: string, operation: string])[] {
  return Object.entries(storage).flatMap(([name, part]) => {
    if (typeof part === 'function') return [['storage', name] as const]
    if (typeof part !== 'object') return []
    return Object.keys(part).map((operation) => [name, operation] as const)
  })
}
