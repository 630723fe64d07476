import { getEventListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { consumeOutbox, WakeUp } from '../../../src/core/events/outbox-consumer.ts'
import type { ConsumeOptions, EventHandler, Forge, ForgeEvent, Logger } from '../../../src/index.ts'
import { ForgeError } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import { deferred } from '../../deferred.ts'
import type { Person } from '../a-forge.ts'
import { aForge, codeOf, olga } from '../a-forge.ts'

type Events = ForgeStorage<undefined>['events']

const NEVER = 3_600_000 // to poll so seldom is not to poll
const issue = (id: number) => ({ id, repositoryId: 10, kind: 'issue' }) as const
const upTo = (last: number): readonly string[] => Array.from({ length: last }, (_, index) => String(index + 1))
const nothing = (): void => undefined

afterEach(() => {
  vi.useRealTimers()
})

/** Pins and unpins an issue so often: two events each time. */
async function churn(forge: Forge<Person, undefined>, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await forge.pins.pin(olga, issue(1))
    await forge.pins.unpin(olga, issue(1))
  }
}

/** A forge with so many events. */
async function forgeWith(events: number, options?: Parameters<typeof aForge>[0]): Promise<Forge<Person, undefined>> {
  const forge = aForge({ logger: false, ...options })
  await churn(forge, events / 2)
  return forge
}

function consume(
  forge: Forge<Person, undefined>,
  handler: EventHandler,
  options: Partial<ConsumeOptions> = {},
): Promise<void> {
  return forge.events.consume('mail', handler, { signal: new AbortController().signal, ...options })
}

/** A handler that keeps what it is handed, and ends the consuming once it has so many events. */
function keeper(enough: number) {
  const stop = new AbortController()
  const events: ForgeEvent[] = []
  const handler: EventHandler = (batch) => {
    events.push(...batch)
    if (events.length >= enough) stop.abort()
  }
  return { handler, signal: stop.signal, ids: () => events.map((event) => event.id) }
}

/** Consumes so many events; gives their ids. */
async function consumed(
  forge: Forge<Person, undefined>,
  enough: number,
  options: Partial<ConsumeOptions> = {},
): Promise<readonly string[]> {
  const { handler, signal, ids } = keeper(enough)
  await consume(forge, handler, { signal, ...options })
  return ids()
}

/** A logger that keeps the messages. */
function collecting(messages: string[]): Logger {
  return { error: (message) => messages.push(message), warn: (message) => messages.push(message) }
}

/** A storage in memory that does some operations on events differently. */
function withEvents(differently: (events: Events) => Partial<Events>): ForgeStorage<undefined> {
  const storage = memoryStorage()
  return { ...storage, events: { ...storage.events, ...differently(storage.events) } }
}

/** A storage whose answers to reads of the outbox wait for `release`, as those of a slow server do. */
function slowToRead() {
  const [reached, released] = [deferred(), deferred()]
  const storage = withEvents((events) => ({
    async read(query) {
      const page = await events.read(query)
      reached.resolve()
      await released.promise
      return page
    },
  }))
  return { storage, reached: reached.promise, release: () => released.resolve() }
}

/** A storage whose every second claim, from the first on, fails. */
function failingAtTimes(failure: Error, claims: number[]): ForgeStorage<undefined> {
  return withEvents((events) => ({
    claim(...given) {
      claims.push(Date.now())
      if (claims.length % 2 === 1) throw failure
      return events.claim(...given)
    },
  }))
}

describe('a consumer', () => {
  test('is handed every event in order, in batches of the size it asked for', async () => {
    const { handler, signal, ids } = keeper(12)
    const sizes: number[] = []
    const measured: EventHandler = (batch, context) => {
      sizes.push(batch.length)
      return handler(batch, context)
    }
    await consume(await forgeWith(12), measured, { signal, batch: 5 })
    expect([ids(), sizes]).toEqual([upTo(12), [5, 5, 2]])
  })

  test('goes on behind what it has handled, under the same name', async () => {
    const forge = await forgeWith(4)
    await consumed(forge, 4)
    await churn(forge, 1)
    expect(await consumed(forge, 2)).toEqual(['5', '6'])
  })

  test('of another name begins where the outbox does', async () => {
    const forge = await forgeWith(2)
    expect(await consumed(forge, 2)).toEqual(['1', '2'])
    const { handler, signal, ids } = keeper(2)
    await forge.events.consume('search', handler, { signal })
    expect(ids()).toEqual(['1', '2'])
  })

  test('receives at once what this process commits during a read', async () => {
    const { storage, reached, release } = slowToRead()
    const forge = aForge({ storage })
    const consuming = consumed(forge, 1, { pollMilliseconds: NEVER })
    await reached
    await forge.pins.pin(olga, issue(1))
    release()
    expect(await consuming).toEqual(['1'])
  })

  test('that fails is handed the same events again, and the failure is logged', async () => {
    const logged: string[] = []
    const forge = await forgeWith(2, { logger: collecting(logged) })
    const { handler, signal, ids } = keeper(2)
    let calls = 0
    const failing: EventHandler = (batch, context) => {
      calls += 1
      if (calls === 1) throw new Error('the mail server is away')
      return handler(batch, context)
    }
    await consume(forge, failing, { signal, pollMilliseconds: 1 })
    expect([calls, ids()]).toEqual([2, ['1', '2']])
    expect(logged).toEqual(['a consumer of events failed; it receives the same events again'])
  })

  test('that fails again after a success rests as briefly as after its first failure', async () => {
    const forge = await forgeWith(2)
    vi.useFakeTimers()
    const stop = new AbortController()
    const calls: { readonly id: string | undefined; readonly at: number }[] = []
    const handler: EventHandler = ([event]) => {
      calls.push({ id: event?.id, at: Date.now() })
      if (calls.length % 2 === 1) throw new Error('the mail server is away')
      if (calls.length === 4) stop.abort()
    }
    const consuming = consume(forge, handler, { signal: stop.signal, batch: 1, pollMilliseconds: 1000 })
    await vi.advanceTimersByTimeAsync(60_000)
    await consuming
    const [first, again, second, last] = calls.map((call) => call.at)
    expect(calls.map((call) => call.id)).toEqual(['1', '1', '2', '2'])
    expect(Number(last) - Number(second)).toBe(Number(again) - Number(first))
  })

  test('whose storage fails again after an empty read rests as briefly as after its first failure', async () => {
    vi.useFakeTimers()
    const claims: number[] = []
    const storage = failingAtTimes(new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }), claims)
    const stop = new AbortController()
    const consuming = consume(aForge({ storage, logger: false }), nothing, {
      signal: stop.signal,
      pollMilliseconds: 1000,
    })
    await vi.advanceTimersByTimeAsync(60_000)
    stop.abort()
    await consuming
    const [first, again, second, last] = claims
    expect(Number(last) - Number(second)).toBe(Number(again) - Number(first))
  })

  test.each([
    new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }),
    new ForgeError('STORAGE_UNAVAILABLE', 'away', { outcome: 'nothing-done' }),
  ])('outlasts a storage that answers %s, and a logger that fails', async (failure) => {
    const fail = (): never => {
      throw new Error('the disk of the log is full')
    }
    const forge = await forgeWith(2, { storage: failingAtTimes(failure, []), logger: { error: fail, warn: fail } })
    expect(await consumed(forge, 2, { pollMilliseconds: 1 })).toEqual(['1', '2'])
  })

  test('that is stopped during a read is handed nothing any more', async () => {
    const { storage, reached, release } = slowToRead()
    const stop = new AbortController()
    const { handler, ids } = keeper(1)
    const consuming = consume(await forgeWith(2, { storage }), handler, { signal: stop.signal })
    await reached
    stop.abort()
    release()
    await consuming
    expect(ids()).toEqual([])
  })

  test('waits for a renewal of its lease before it moves the cursor and gives the lease up', async () => {
    const calls: string[] = []
    const [renewing, released] = [deferred(), deferred()]
    const storage = withEvents((events) => ({
      ...recorded(calls, events),
      async claim(...given) {
        if (calls.length > 0) {
          renewing.resolve()
          await released.promise
        }
        calls.push('claim')
        return events.claim(...given)
      },
    }))
    const forge = await forgeWith(2, { storage })
    const stop = new AbortController()
    const handler: EventHandler = async () => {
      await renewing.promise
      stop.abort()
      setImmediate(() => released.resolve())
    }
    await consume(forge, handler, { signal: stop.signal, leaseMilliseconds: 3 })
    expect(calls).toEqual(['claim', 'claim', 'advance', 'release'])
  })

  test('needs a name, a handler and a signal', async () => {
    const { events } = aForge()
    const { signal } = new AbortController()
    const consuming = (...given: readonly unknown[]): Promise<void> => Reflect.apply(events.consume, events, given)
    await expect(consuming('', nothing, { signal })).rejects.toThrow(
      'the name of a consumer must be a non-empty string',
    )
    expect(await codeOf(() => consuming('x'.repeat(65), nothing, { signal }))).toBe('INVALID_INPUT')
    await expect(consuming('a', 'b', { signal })).rejects.toThrow(TypeError)
    await expect(consuming('a', nothing, {})).rejects.toThrow('consume needs signal: an AbortSignal')
    await expect(consuming('a', nothing, { signal, leaseMilliseconds: 0 })).rejects.toThrow('leaseMilliseconds')
  })

  test('has one listener on its signal, however many batches it has handled', async () => {
    const storage = memoryStorage()
    await forgeWith(4, { storage })
    const stop = new AbortController()
    const listeners: number[] = []
    const parts = {
      events: storage.events,
      consumer: { name: 'mail', holder: 'this process' },
      handler() {
        listeners.push(getEventListeners(stop.signal, 'abort').length)
        if (listeners.length === 4) stop.abort()
      },
      pace: { leaseMilliseconds: 30_000, pollMilliseconds: 1000, batch: 1 },
      wakeUp: new WakeUp(),
      logger: { error: nothing, warn: nothing },
    }
    await consumeOutbox(parts, stop.signal)

    expect(listeners).toEqual([1, 1, 1, 1])
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })
})

test('a wait that was ended early leaves neither a timer nor a listener', async () => {
  vi.useFakeTimers()
  const wakeUp = new WakeUp()
  const { signal } = new AbortController()
  const waits = [wakeUp.wait(1000, signal), wakeUp.wait(1000, signal)]
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([2, 2])
  wakeUp.notify()
  await Promise.all(waits)
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0])
})

/** Writes down what ends a consumer, in order. */
function recorded(calls: string[], { advance, release }: Events): Pick<Events, 'advance' | 'release'> {
  return {
    advance(...given) {
      calls.push('advance')
      return advance(...given)
    },
    release(...given) {
      calls.push('release')
      return release(...given)
    },
  }
}

describe('closing the forge', () => {
  test('ends a consumer that waits for events', async () => {
    const forge = aForge()
    const { signal } = new AbortController()
    const consuming = consume(forge, nothing, { signal, pollMilliseconds: NEVER })
    await forge.close()
    await expect(consuming).resolves.toBeUndefined()
    expect(getEventListeners(signal, 'abort')).toEqual([]) // the signal may outlive the forge
  })

  test('ends a consumer that waits for a busy storage', async () => {
    const claimed = deferred()
    const claim = (): never => {
      claimed.resolve()
      throw new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' })
    }
    const forge = aForge({ storage: withEvents(() => ({ claim })), logger: false })
    const consuming = consume(forge, nothing, { pollMilliseconds: NEVER })
    await claimed.promise
    await forge.close()
    await expect(consuming).resolves.toBeUndefined()
  })

  test('waits for the events in hand, moves the cursor, gives the lease up, and then closes the storage', async () => {
    const calls: string[] = []
    const inner = withEvents((events) => recorded(calls, events))
    const close = () => {
      calls.push('close')
      return inner.close()
    }
    const forge = await forgeWith(2, { storage: { ...inner, close } })
    const [reached, released] = [deferred(), deferred()]
    const consuming = consume(forge, async (_batch, { signal }) => {
      reached.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      calls.push('stop')
      await released.promise
      calls.push('handled')
    })
    await reached.promise
    const closed = Promise.all([forge.close(), forge.close()])
    setImmediate(() => released.resolve())
    await Promise.all([closed, consuming])
    expect(calls).toEqual(['stop', 'handled', 'advance', 'release', 'close', 'close'])
  })

  test('is not logged as a failure of a handler that ends by its signal', async () => {
    const logged: string[] = []
    const forge = await forgeWith(2, { logger: collecting(logged) })
    const reached = deferred()
    const consuming = consume(forge, (_batch, { signal }) => {
      reached.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await reached.promise
    await forge.close()
    await consuming
    expect(logged).toEqual([])
  })

  test('does not wait for ever for a handler that waits for the close', async () => {
    const logged: string[] = []
    const forge = await forgeWith(2, { logger: collecting(logged) })
    vi.useFakeTimers()
    const consuming = consume(forge, () => forge.close())
    await vi.advanceTimersByTimeAsync(5000)
    await expect(consuming).resolves.toBeUndefined()
    expect(logged).toEqual([
      'a consumer could not release its lease: others must wait until it expires',
      'the forge was closed before a consumer ended: its last events are delivered again',
    ])
  })

  test('refuses to consume afterwards', async () => {
    const forge = aForge()
    await forge.close()
    await expect(consume(forge, nothing)).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: 'the forge is closed',
    })
  })

  test('of another forge on the same storage ends a consumer with its error', async () => {
    const logged: string[] = []
    const storage = memoryStorage()
    const consuming = consume(aForge({ storage, logger: collecting(logged) }), nothing, { pollMilliseconds: 1 })
    await aForge({ storage }).close()
    await expect(consuming).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: 'the storage is closed' })
    expect(logged).toEqual(['a consumer could not release its lease: others must wait until it expires'])
  })
})

describe('competing consumers of one name', () => {
  test('hold the lease for as long as a handler takes', async () => {
    const storage = memoryStorage()
    const forges = [await forgeWith(2, { storage }), aForge({ storage, logger: false })]
    const stop = new AbortController()
    let calls = 0
    const slow: EventHandler = async () => {
      calls += 1
      await pause(1200)
      stop.abort()
    }
    const options = { signal: stop.signal, pollMilliseconds: 5, leaseMilliseconds: 400 }
    await Promise.all(forges.map((forge) => consume(forge, slow, options)))
    expect(calls).toBe(1)
  })

  test('give the lease up when they end', async () => {
    const storage = memoryStorage()
    await consumed(await forgeWith(2, { storage }), 2)
    expect(await storage.events.claim({ name: 'mail', holder: 'another' }, 1000)).toBeDefined()
  })
})

describe('pruning', () => {
  const before = new Date('9999-01-01T00:00:00Z')
  const target = { organizationId: 5, account: { kind: 'user', id: 9 } } as const

  test('waits for the slowest consumer until that is forgotten', async () => {
    const forge = aForge({ logger: false })
    await forge.blocks.block(olga, target)
    const stop = new AbortController()
    const failing: EventHandler = () => {
      stop.abort()
      throw new Error('the mail server is away')
    }
    await consume(forge, failing, { signal: stop.signal })
    expect(await forge.events.prune({ before })).toBe(0)
    expect(await forge.events.forget('mail')).toBe(true)
    expect(await forge.events.forget('mail')).toBe(false)
    expect(await forge.events.prune({ before })).toBe(1)
  })

  test('needs a date', async () => {
    const { events } = aForge()
    await expect(events.prune({ before: new Date(Number.NaN) })).rejects.toThrow('before must be a valid Date')
    for (const options of [undefined, null, {}]) {
      const pruned = Promise.resolve(Reflect.apply(events.prune, events, [options]))
      await expect(pruned).rejects.toThrow(/^prune needs { before }/)
    }
  })
})
