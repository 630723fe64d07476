import { setImmediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { MaybePromise, SyncOrAsync } from '../../src/schema/sync-or-async.ts'
import { isPromise, runAsync, runMaybeAsync, runSync, wait } from '../../src/schema/sync-or-async.ts'
import { after } from '../../src/storage/sql/after.ts'

const trouble = new Error('trouble')

function* sum(...values: readonly MaybePromise<number>[]): SyncOrAsync<number> {
  let total = 0
  for (const value of values) total += yield* wait(value)
  return total
}

function thenable(value: number): PromiseLike<number> {
  // biome-ignore lint/suspicious/noThenProperty: a promise by other hands is what is tested
  return { then: (resolve) => Promise.resolve(value).then(resolve) }
}

function* fail(): SyncOrAsync<number> {
  yield* wait(undefined)
  throw trouble
}

test('after goes on at once with a value, and behind anything with a then unless that is rejected', async () => {
  const next = vi.fn((value: number) => value + 1)
  expect(after(1, next)).toBe(2)
  // the cast stands for a port that answers with a promise of its own making
  expect(await Promise.all([after(Promise.resolve(1), next), after(thenable(1) as Promise<number>, next)])).toEqual([
    2, 2,
  ])
  await expect(after(Promise.reject(trouble), next)).rejects.toBe(trouble)
  expect(next).toHaveBeenCalledTimes(3)
})

describe('run', () => {
  test.each([undefined, null, 0, '', false, 6])('gives %j at once where nothing must be waited for', async (value) => {
    expect(runMaybeAsync(wait(value))).toBe(value)
    expect(await runMaybeAsync(wait(Promise.resolve(value)))).toBe(value)
  })

  test.each([
    ['first', [Promise.resolve(1), 2, 3]],
    ['last', [1, 2, Promise.resolve(3)]],
    ['each', [Promise.resolve(1), Promise.resolve(2), Promise.resolve(3)]],
    // the cast stands for a port that answers with a promise of its own making
    ['second, anything with a then,', [1, thenable(2) as Promise<number>, 3]],
  ] as const)('gives a promise where the %s value is one', async (_, values) => {
    const result = runMaybeAsync(sum(...values))

    expect(isPromise(result)).toBe(true)
    expect(await result).toBe(6)
  })

  test('throws at once what the steps throw before anything was waited for, and rejects with it later', async () => {
    function* late(): SyncOrAsync<void> {
      yield* wait(Promise.resolve())
      throw trouble
    }

    expect(() => runMaybeAsync(fail())).toThrow(trouble)
    await expect(runMaybeAsync(late())).rejects.toBe(trouble)
    await expect(runMaybeAsync(sum(1, Promise.reject(trouble)))).rejects.toBe(trouble)
  })
})

test('runAsync gives a promise even where nothing must be waited for', async () => {
  const result = runAsync(sum(1, 2))

  expect(result).toBeInstanceOf(Promise)
  expect(await result).toBe(3)
  await expect(runAsync(fail())).rejects.toBe(trouble)
})

describe('runSync', () => {
  test('gives the value, or throws what the steps throw', () => {
    expect(runSync(sum(1, 2, 3))).toBe(6)
    expect(() => runSync(fail())).toThrow(trouble)
  })

  test('lets the steps clean up before it refuses', () => {
    const cleaned = vi.fn()
    function* careful(): SyncOrAsync<void> {
      try {
        yield* wait(Promise.resolve())
      } finally {
        cleaned()
      }
    }

    expect(() => runSync(careful())).toThrow(TypeError)
    expect(cleaned).toHaveBeenCalledOnce()
  })

  test('refuses even when the steps catch the refusal', () => {
    function* stubborn(): SyncOrAsync<string> {
      try {
        return yield* wait(Promise.resolve('late'))
      } catch {
        return 'as if nothing had happened'
      }
    }

    expect(() => runSync(stubborn())).toThrow('a promise was returned where a value is required')
  })

  test('leaves no rejection unhandled: not of the promise it refuses, not of one met while cleaning up', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    function* hopeless(): SyncOrAsync<void> {
      try {
        yield* wait(Promise.reject(trouble))
      } finally {
        yield* wait(Promise.reject(trouble))
      }
    }

    expect(() => runSync(hopeless())).toThrow(TypeError)
    await setImmediate()
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})
