import { afterAll, describe, expect, test } from 'vitest'
import type { ObservedOperation } from '../../src/core/instrument-storage.ts'
import { instrumentStorage } from '../../src/core/instrument-storage.ts'
import { ForgeError } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/contract/storage.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/cases/sample-changes.ts'
import { storageContract } from '../../src/testing/testing.ts'
import { memoryKind } from '../storage/databases/memory.ts'
import { sqliteMemoryKind } from '../storage/databases/sqlite.ts'
import type { StorageKind } from '../storage/databases/storage-kind.ts'
import { withFault } from '../storage/planted/storage-fault.ts'

runContract(memoryKind())
runContract(sqliteMemoryKind())

/** An observed storage does all that the contract asks of a storage. */
function runContract<Tx>(kind: StorageKind<Tx>): void {
  const { name, open, host, end } = withFault(kind, (storage) => instrumentStorage(storage, () => undefined))
  describe(`${name}, observed,`, () => {
    afterAll(end)
    for (const each of storageContract(open, host)) test(each.name, each.run)
  })
}

describe('every method of the storage contract', () => {
  const methods = methodsOf(memoryStorage())

  test('is one of an observed storage', () => {
    expect(methods).toContainEqual(['pinBoards', 'update'])
    expect(methodsOf(observing().storage).toSorted()).toEqual(methods.toSorted())
  })

  test.each(methods)('%s.%s is asked of the storage itself, with all that is given, and told', (store, operation) => {
    const asked: unknown[] = []
    const storage = memoryStorage()
    const owner = store === 'storage' ? storage : Reflect.get(storage, store)
    Reflect.set(owner, operation, function answer(this: unknown, ...given: unknown[]) {
      asked.push(this, ...given)
      return { stale: false }
    })
    const told: ObservedOperation[] = []
    const observed = instrumentStorage(storage, (seen) => void told.push(seen))
    const observedOwner = store === 'storage' ? observed : Reflect.get(observed, store)
    Reflect.apply(Reflect.get(observedOwner, operation), undefined, ['one', 'two', 'three', 'four'])

    expect(asked).toEqual([owner, 'one', 'two', 'three', 'four'])
    expect(asked[0]).toBe(owner)
    expect(told).toMatchObject([{ store, operation, outcome: 'done', code: undefined }])
  })
})

describe('an observed operation', () => {
  test('is answered at once where the storage does', () => {
    const { storage } = observing()

    expect(storage.pinBoards.load(BOARD)).toEqual([])
    expect(storage.pinBoards.epoch(BOARD)).toBe(0)
  })

  test('that is refused at once is refused at once', () => {
    const { storage } = observing()

    expect(() => storage.events.read({ after: 'no cursor', limit: 1 })).toThrow(ForgeError)
  })

  test('takes as long as its storage', async () => {
    const inner = memoryStorage()
    const load = () => new Promise<never[]>((resolve) => setTimeout(() => resolve([]), 30))
    const { storage, told } = observing({ ...inner, pinBoards: { ...inner.pinBoards, load } })
    await storage.pinBoards.load(BOARD)

    expect(told[0]?.milliseconds).toBeGreaterThan(25)
    expect(told[0]?.milliseconds).toBeLessThan(5000)
  })

  test('is told when it has ended, and not before', async () => {
    const inner = memoryStorage()
    let end: (rows: never[]) => void = () => undefined
    const ending = new Promise<never[]>((resolve) => {
      end = resolve
    })
    const { storage, told } = observing({ ...inner, pinBoards: { ...inner.pinBoards, load: () => ending } })
    const loading = storage.pinBoards.load(BOARD)
    const before = [...told]
    end([])
    await loading

    expect([before, told.length]).toEqual([[], 1])
  })
})

describe('the outcome', () => {
  test('of a change is done', async () => {
    const { storage, told } = observing()
    await pin(storage, BOARD, '1')

    expect(told).toEqual([
      { store: 'pinBoards', operation: 'update', milliseconds: expect.any(Number), outcome: 'done', code: undefined },
    ])
  })

  test('of a change that a lifecycle call overtook is stale', async () => {
    const { storage, told } = observing()
    await expect(pin(storage, BOARD, '1', { seen: 7 })).rejects.toThrow('stale')

    expect(told).toMatchObject([{ outcome: 'stale', code: undefined }])
  })

  test('of a change that its rule refuses is refused, with the code', async () => {
    const { storage, told } = observing()
    await expect(pin(storage, BOARD, '1', { limit: 0 })).rejects.toThrow('full')

    expect(told).toMatchObject([{ outcome: 'refused', code: 'PIN_LIMIT_REACHED' }])
  })

  test('of a change whose caller has gone is aborted', async () => {
    const { storage, told } = observing()
    await expect(pin(storage, BOARD, '1', { signal: AbortSignal.abort() })).rejects.toThrow('aborted')

    expect(told).toMatchObject([{ outcome: 'aborted', code: undefined }])
  })

  test.each([
    [new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }), 'STORAGE_BUSY'],
    [new ForgeError('STORAGE_UNAVAILABLE', 'away', { outcome: 'unknown' }), 'STORAGE_UNAVAILABLE'],
    [new ForgeError('SCHEMA_OUTDATED', 'old', { found: 1, needed: 2 }), 'SCHEMA_OUTDATED'],
    [new ForgeError('SCHEMA_TOO_NEW', 'new', { found: 3, oldestLibrary: 2 }), 'SCHEMA_TOO_NEW'],
    [new Error('a fault'), undefined],
    ['a text', undefined],
  ])('of what ends in %s is failed, with the code %s', async (error, code) => {
    const inner = memoryStorage()
    const { storage, told } = observing({ ...inner, retire: () => Promise.reject(error) })
    const retired = Reflect.apply(storage.retire, storage, [{}])

    await expect(retired).rejects.toBe(error)
    expect(told).toMatchObject([{ store: 'storage', operation: 'retire', outcome: 'failed', code }])
  })
})

function observing(inner: ForgeStorage<undefined> = memoryStorage()) {
  const told: ObservedOperation[] = []
  return { storage: instrumentStorage(inner, (seen) => void told.push(seen)), told }
}

/** Of a storage and its stores, every method that a storage has. */
function methodsOf(storage: ForgeStorage<undefined>): readonly (readonly [store: string, operation: string])[] {
  return Object.entries(storage).flatMap(([name, part]) => {
    if (typeof part === 'function') return [['storage', name] as const]
    if (typeof part !== 'object') return []
    return Object.keys(part).map((operation) => [name, operation] as const)
  })
}
