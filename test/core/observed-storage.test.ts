import { describe, expect, test } from 'vitest'
import type { ObservedOperation } from '../../src/core/instrument-storage.ts'
import { instrumentStorage } from '../../src/core/instrument-storage.ts'
import { ForgeError } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/contract/storage.ts'
import type { BlockStore } from '../../src/storage/contract/stores.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/cases/sample-changes.ts'
import { memoryKind } from '../storage/databases/memory.ts'
import { observedContract } from './observed-contract.ts'

observedContract(memoryKind())

describe('every method of the storage contract', () => {
  const methods = methodsOf(memoryStorage())

  test('is one of an observed storage', () => {
    expect(methods).toContainEqual(['pinBoards', 'update'])
    expect(methodsOf(observing().storage).toSorted()).toEqual(methods.toSorted())
  })

  test.each(methods)('%s.%s is called on the storage with every argument, and reported', (store, operation) => {
    const asked: unknown[] = []
    const storage = memoryStorage()
    const owner = store === 'storage' ? storage : Reflect.get(storage, store)
    Reflect.set(owner, operation, function answer(this: unknown, ...given: unknown[]) {
      asked.push(this, ...given)
      return { stale: false }
    })
    const reported: ObservedOperation[] = []
    const observed = instrumentStorage(storage, (seen) => void reported.push(seen))
    const observedOwner = store === 'storage' ? observed : Reflect.get(observed, store)
    Reflect.apply(Reflect.get(observedOwner, operation), undefined, ['one', 'two', 'three', 'four'])

    expect(asked).toEqual([owner, 'one', 'two', 'three', 'four'])
    expect(asked[0]).toBe(owner)
    expect(reported).toMatchObject([{ store, operation, outcome: 'done', code: undefined }])
  })
})

test('a storage that replaces a store, and has members that are no stores, can be observed', () => {
  const seen: ObservedOperation[] = []
  let inner = memoryStorage()
  const storage = {
    ...inner,
    get pinBoards() {
      return inner.pinBoards
    },
    get pool(): object {
      throw new Error('the pool was read')
    },
  }
  const observed = instrumentStorage(storage, (operation) => void seen.push(operation))
  const first = observed.pinBoards
  expect(observed.pinBoards).toBe(first)
  inner = memoryStorage()

  expect(observed.pinBoards).not.toBe(first)
  observed.pinBoards.epoch(BOARD, undefined)
  expect(seen).toMatchObject([{ store: 'pinBoards', operation: 'epoch', outcome: 'done' }])
})

describe('a storage that has more than the contract of today', () => {
  const inner = memoryStorage()
  const grown = {
    ...inner,
    blocks: { ...inner.blocks, count: (organizationId: string) => Number(organizationId) + 1 },
    imports: { start: async () => 'started' },
    vacuum: () => 'clean',
  }

  test('is observed in all of it', async () => {
    const reported: string[] = []
    const storage: object = instrumentStorage(
      grown,
      ({ store, operation }) => void reported.push(`${store}.${operation}`),
    )
    expect(storage).toMatchObject(shapeOf(grown))
    // the cast restores what instrumentStorage does not promise of members that the contract does not name
    const { blocks, imports, vacuum } = storage as typeof grown

    expect([blocks.count('41'), vacuum(), await imports.start()]).toEqual([42, 'clean', 'started'])
    expect(reported).toEqual(['blocks.count', 'storage.vacuum', 'imports.start'])
  })
})

test('a storage made of classes is observed, frozen or not', () => {
  class Blocks {
    readonly #blocks = memoryStorage().blocks
    find(...given: Parameters<BlockStore<undefined>['find']>) {
      return this.#blocks.find(...given)
    }
  }
  class Storage {
    readonly #blocks = Object.freeze(new Blocks())
    transactions = 'none'
    get blocks() {
      return this.#blocks
    }
    retire() {
      return [this.#blocks]
    }
  }
  const own = new Storage()
  const reported: string[] = []
  const report = ({ store, operation }: ObservedOperation) => void reported.push(`${store}.${operation}`)
  // the cast stands for the storage of a host in JavaScript that lacks what this test does not need
  const storage = instrumentStorage(own as unknown as ForgeStorage<undefined>, report)
  const found = storage.blocks.find({ organizationId: '5', userId: '9' })
  Reflect.apply(storage.retire, undefined, [])
  own.transactions = 'synchronous'

  expect([found, storage.transactions, reported]).toEqual([undefined, 'synchronous', ['blocks.find', 'storage.retire']])
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
    const { storage, reported } = observing({ ...inner, pinBoards: { ...inner.pinBoards, load } })
    await storage.pinBoards.load(BOARD)

    expect(reported[0]?.milliseconds).toBeGreaterThan(25)
    expect(reported[0]?.milliseconds).toBeLessThan(5000)
  })

  test('is reported when it has ended, and not before', async () => {
    const inner = memoryStorage()
    let end: (rows: never[]) => void = () => undefined
    const ending = new Promise<never[]>((resolve) => {
      end = resolve
    })
    const { storage, reported } = observing({ ...inner, pinBoards: { ...inner.pinBoards, load: () => ending } })
    const loading = storage.pinBoards.load(BOARD)
    const before = [...reported]
    end([])
    await loading

    expect([before, reported.length]).toEqual([[], 1])
  })
})

describe('the outcome', () => {
  test('of a change is done', async () => {
    const { storage, reported } = observing()
    await pin(storage, BOARD, '1')

    expect(reported).toEqual([
      { store: 'pinBoards', operation: 'update', milliseconds: expect.any(Number), outcome: 'done', code: undefined },
    ])
  })

  test('of a change that a lifecycle call overtook is stale', async () => {
    const { storage, reported } = observing()
    await expect(pin(storage, BOARD, '1', { seen: 7 })).rejects.toThrow('stale')

    expect(reported).toMatchObject([{ outcome: 'stale', code: undefined }])
  })

  test('of a change that its rule refuses is refused, with the code', async () => {
    const { storage, reported } = observing()
    await expect(pin(storage, BOARD, '1', { limit: 0 })).rejects.toThrow('full')

    expect(reported).toMatchObject([{ outcome: 'refused', code: 'PIN_LIMIT_REACHED' }])
  })

  test('of a change whose caller has gone is aborted', async () => {
    const { storage, reported } = observing()
    await expect(pin(storage, BOARD, '1', { signal: AbortSignal.abort() })).rejects.toThrow('aborted')

    expect(reported).toMatchObject([{ outcome: 'aborted', code: undefined }])
  })

  test('of a change that fails for another reason, though its caller has gone, is not aborted', async () => {
    const inner = memoryStorage()
    const caller = new AbortController()
    const update = () => {
      caller.abort()
      return Promise.reject(new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }))
    }
    const { storage, reported } = observing({ ...inner, pinBoards: { ...inner.pinBoards, update } })
    await expect(pin(storage, BOARD, '1', { signal: caller.signal })).rejects.toThrow('busy')

    expect(reported).toMatchObject([{ outcome: 'failed', code: 'STORAGE_BUSY' }])
  })

  test.each([
    [new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }), 'STORAGE_BUSY'],
    [new ForgeError('STORAGE_UNAVAILABLE', 'away', { outcome: 'unknown' }), 'STORAGE_UNAVAILABLE'],
    [new ForgeError('SCHEMA_OUTDATED', 'old', { found: 1, needed: 2 }), 'SCHEMA_OUTDATED'],
    [new ForgeError('SCHEMA_TOO_NEW', 'new', { found: 3, oldestLibrary: 2 }), 'SCHEMA_TOO_NEW'],
    [new Error('a fault'), undefined],
    ['a string', undefined],
  ])('of what ends in %s is failed, with the code %s', async (error, code) => {
    const inner = memoryStorage()
    const { storage, reported } = observing({ ...inner, retire: () => Promise.reject(error) })
    const retired = Reflect.apply(storage.retire, storage, [{}])

    await expect(retired).rejects.toBe(error)
    expect(reported).toMatchObject([{ store: 'storage', operation: 'retire', outcome: 'failed', code }])
  })
})

function observing(inner: ForgeStorage<undefined> = memoryStorage()) {
  const reported: ObservedOperation[] = []
  return { storage: instrumentStorage(inner, (seen) => void reported.push(seen)), reported }
}

/** What `toMatchObject` must find: the same members, with functions for functions. */
function shapeOf(part: object): object {
  const members = Object.entries(part).map(([name, value]) => {
    if (typeof value === 'function') return [name, expect.any(Function)]
    return [name, typeof value === 'object' ? shapeOf(value) : value]
  })
  return Object.fromEntries(members)
}

/** Of a storage and its stores, every method that a storage has. */
function methodsOf(storage: ForgeStorage<undefined>): readonly (readonly [store: string, operation: string])[] {
  return Object.entries(storage).flatMap(([name, part]) => {
    if (typeof part === 'function') return [['storage', name] as const]
    if (typeof part !== 'object') return []
    return Object.keys(part).map((operation) => [name, operation] as const)
  })
}
