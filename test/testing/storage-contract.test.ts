import { beforeAll, describe, expect, test } from 'vitest'
import { storageContract } from '../../app/testing/testing.ts'
import { ForgeError } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'

describe('the cases that race', () => {
  const open = async () => memoryStorage()
  const ending = ', from two storages'
  const racing = storageContract(open, { again: open })
    .map(({ name }) => name)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
  const casesOn = (isBusy: (call: number) => boolean) =>
    storageContract(async () => busyStorage(isBusy)).filter(({ name }) => racing.includes(name))

  test('accept that a storage refuses calls as busy, and make those again', async () => {
    const cases = casesOn((call) => call % 3 === 0)
    for (const one of cases) await one.run()

    expect(cases.length).toBeGreaterThan(30)
  })

  test('do not accept a storage that is always busy', async () => {
    for (const one of casesOn(() => true)) await expect(one.run()).rejects.toThrow()
  })
})

describe('the list of cases', () => {
  const open = async () => memoryStorage()

  test('has no name twice', () => {
    const names = storageContract(open, {
      textIds: open,
      again: open,
      beside: open,
      begin: fails,
      beginSnapshot: fails,
      beginReadCommitted: fails,
    }).map(({ name }) => name)

    expect(new Set(names).size).toBe(names.length)
  })
})

describe('the cases', () => {
  const called = new Set<string>()
  const recording = async (): Promise<ForgeStorage<undefined>> =>
    calling((method) => {
      called.add(method)
      return undefined
    })
  beforeAll(async () => {
    for (const { run } of storageContract(recording)) await run()
  }, 60_000)

  test.each(methodsOf(memoryStorage()))('call %s', (method) => {
    expect(called).toContain(method)
  })
})

/** The methods of every store of a storage. */
function methodsOf(storage: object): readonly string[] {
  return Object.entries(storage).flatMap(([store, methods]) =>
    typeof methods === 'object' ? Object.keys(methods).map((method) => `${store}.${method}`) : [],
  )
}

/** A storage that hands the name of each method that is called to this, which may answer in its place. */
function calling(instead: (method: string) => Promise<never> | undefined): ForgeStorage<undefined> {
  const watched = <Owner extends object>(owner: Owner, store: string): Owner =>
    new Proxy(owner, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member === 'object' && member !== null) return watched(member, String(name))
        if (typeof member !== 'function' || (store === 'storage' && name !== 'retire')) return member

        return (...values: unknown[]): unknown =>
          instead(`${store}.${String(name)}`) ?? Reflect.apply(member, target, values)
      },
    })
  return watched(memoryStorage(), 'storage')
}

/** A storage that refuses some of its calls, by their number. */
function busyStorage(isBusy: (call: number) => boolean): ForgeStorage<undefined> {
  let calls = 0
  return calling(() => {
    calls += 1
    const busy = new ForgeError('STORAGE_BUSY', 'others are in the way', { retry: 'call' })
    return isBusy(calls) ? Promise.reject(busy) : undefined
  })
}

function fails(): never {
  throw new Error('no case of this list is run')
}
