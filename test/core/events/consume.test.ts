import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import type { EventHandler, Forge, ForgeEvent, Logger } from '../../../src/index.ts'
import { createForge, ForgeError } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import type { Person } from '../a-forge.ts'
import { aForge, codeOf, everyone, olga } from '../a-forge.ts'

const issue = (id: number) => ({ id, repositoryId: 10, kind: 'issue' }) as const

/** Pins and unpins an issue so often: two events each time. */
async function churn(forge: Forge<Person, undefined>, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await forge.pins.pin(olga, issue(1))
    await forge.pins.unpin(olga, issue(1))
  }
}

/** A handler that keeps what it is handed, and ends the consuming once it has so many events. */
function keeper(enough: number) {
  const stop = new AbortController()
  const events: ForgeEvent[] = []
  const handler: EventHandler = (batch) => {
    events.push(...batch)
    if (events.length >= enough) stop.abort()
  }
  return { events, handler, signal: stop.signal, ids: () => events.map((event) => event.id) }
}

/** Consumes with a handler that fails the first time; gives how often it was called. */
async function consumeFailingOnce(
  forge: Forge<Person, undefined>,
  { handler, signal }: ReturnType<typeof keeper>,
): Promise<number> {
  let calls = 0
  const failing: EventHandler = (batch, context) => {
    calls += 1
    if (calls === 1) throw new Error('the mail server is away')
    return handler(batch, context)
  }
  await forge.events.consume('mail', failing, { signal, pollMilliseconds: 1 })
  return calls
}

/** A logger that keeps the messages. */
function collecting(messages: string[]): Logger {
  return { error: (message) => messages.push(message), warn: (message) => messages.push(message) }
}

/** Something to wait for until it is opened. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** A storage whose answers to reads of the outbox wait for `release`, as those of a slow server do. */
function slowToRead() {
  const storage = memoryStorage()
  const [reached, released] = [gate(), gate()]
  const events: ForgeStorage<undefined>['events'] = {
    ...storage.events,
    read: async (query) => {
      const page = await storage.events.read(query)
      reached.open()
      await released.opened
      return page
    },
  }
  return { storage: { ...storage, events }, reached: reached.opened, release: () => released.open() }
}

const upTo = (last: number): readonly string[] => Array.from({ length: last }, (_, index) => String(index + 1))

describe('a consumer', () => {
  test('is handed every event in order, in batches of the size it asked for', async () => {
    const forge = aForge()
    await churn(forge, 6)
    const kept = keeper(12)
    const sizes: number[] = []
    await forge.events.consume(
      'mail',
      (batch, context) => {
        sizes.push(batch.length)
        return kept.handler(batch, context)
      },
      { signal: kept.signal, batch: 5 },
    )
    expect([kept.ids(), sizes]).toEqual([upTo(12), [5, 5, 2]])
  })

  test('goes on behind what it has handled, under the same name', async () => {
    const forge = aForge()
    await churn(forge, 2)
    const before = keeper(4)
    await forge.events.consume('mail', before.handler, { signal: before.signal })
    await churn(forge, 1)
    const after = keeper(2)
    await forge.events.consume('mail', after.handler, { signal: after.signal })
    expect(after.ids()).toEqual(['5', '6'])
  })

  test('of another name begins where the outbox does', async () => {
    const forge = aForge()
    await churn(forge, 1)
    for (const name of ['mail', 'search']) {
      const kept = keeper(2)
      await forge.events.consume(name, kept.handler, { signal: kept.signal })
      expect(kept.ids()).toEqual(['1', '2'])
    }
  })

  test('receives at once what this process commits', async () => {
    const forge = aForge()
    const kept = keeper(1)
    const consuming = forge.events.consume('mail', kept.handler, { signal: kept.signal, pollMilliseconds: 3_600_000 })
    await new Promise((resolve) => setTimeout(resolve, 20))
    await forge.pins.pin(olga, issue(1))
    await consuming
    expect(kept.ids()).toEqual(['1'])
  })

  test('receives at once what this process commits during a read', async () => {
    const { storage, reached, release } = slowToRead()
    const forge = aForge({ storage })
    const kept = keeper(1)
    const consuming = forge.events.consume('mail', kept.handler, { signal: kept.signal, pollMilliseconds: 3_600_000 })
    await reached
    await forge.pins.pin(olga, issue(1))
    release()
    await consuming
    expect(kept.ids()).toEqual(['1'])
  })

  test('that fails is handed the same events again, and the failure is logged', async () => {
    const logged: string[] = []
    const forge = aForge({ logger: { error: (message) => logged.push(message), warn: () => undefined } })
    await churn(forge, 1)
    const kept = keeper(2)
    const calls = await consumeFailingOnce(forge, kept)
    expect([calls, kept.ids(), logged]).toEqual([
      2,
      ['1', '2'],
      ['a consumer of events failed; it receives the same events again'],
    ])
  })

  test('that fails goes on, though the logger fails too', async () => {
    const fail = (): never => {
      throw new Error('the disk of the log is full')
    }
    const forge = aForge({ logger: { error: fail, warn: fail } })
    await churn(forge, 1)
    const kept = keeper(2)
    const calls = await consumeFailingOnce(forge, kept)
    expect([calls, kept.ids()]).toEqual([2, ['1', '2']])
  })

  test('that fails again after a success rests as briefly as after its first failure', async () => {
    vi.useFakeTimers()
    try {
      const forge = aForge({ logger: false })
      await churn(forge, 1)
      const stop = new AbortController()
      const calls: { readonly id: string | undefined; readonly at: number }[] = []
      const handler: EventHandler = ([event]) => {
        calls.push({ id: event?.id, at: Date.now() })
        if (calls.length % 2 === 1) throw new Error('the mail server is away')
        if (calls.length === 4) stop.abort()
      }
      const consuming = forge.events.consume('mail', handler, { signal: stop.signal, batch: 1, pollMilliseconds: 1000 })
      await vi.advanceTimersByTimeAsync(60_000)
      await consuming
      const [first, again, second, last] = calls.map((call) => call.at)
      expect(calls.map((call) => call.id)).toEqual(['1', '1', '2', '2'])
      expect(Number(last) - Number(second)).toBe(Number(again) - Number(first))
    } finally {
      vi.useRealTimers()
    }
  })

  test('whose storage fails again after an empty read rests as briefly as after its first failure', async () => {
    vi.useFakeTimers()
    try {
      const storage = memoryStorage()
      const stop = new AbortController()
      const claims: number[] = []
      const claim: typeof storage.events.claim = (...given) => {
        claims.push(Date.now())
        if (claims.length === 4) stop.abort()
        if (claims.length % 2 === 1) throw new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' })
        return storage.events.claim(...given)
      }
      const forge = aForge({ storage: { ...storage, events: { ...storage.events, claim } }, logger: false })
      const consuming = forge.events.consume('mail', () => undefined, { signal: stop.signal, pollMilliseconds: 1000 })
      await vi.advanceTimersByTimeAsync(60_000)
      await consuming
      const [first, again, second, last] = claims
      expect(Number(last) - Number(second)).toBe(Number(again) - Number(first))
    } finally {
      vi.useRealTimers()
    }
  })

  test.each([
    new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }),
    new ForgeError('STORAGE_UNAVAILABLE', 'away', { outcome: 'nothing-done' }),
  ])('outlasts a storage that answers %s', async (failure) => {
    const storage = memoryStorage()
    let claims = 0
    const claim: typeof storage.events.claim = (...given) => {
      claims += 1
      if (claims === 1) throw failure
      return storage.events.claim(...given)
    }
    const forge = aForge({ storage: { ...storage, events: { ...storage.events, claim } }, logger: false })
    await churn(forge, 1)
    const kept = keeper(2)
    await forge.events.consume('mail', kept.handler, { signal: kept.signal, pollMilliseconds: 1 })
    expect(kept.ids()).toEqual(['1', '2'])
  })

  test('that is stopped during a read is handed nothing any more', async () => {
    const { storage, reached, release } = slowToRead()
    const forge = aForge({ storage })
    await churn(forge, 1)
    const stop = new AbortController()
    const kept = keeper(1)
    const consuming = forge.events.consume('mail', kept.handler, { signal: stop.signal })
    await reached
    stop.abort()
    release()
    await consuming
    expect(kept.ids()).toEqual([])
  })

  test('waits for a renewal of its lease before it moves the cursor and gives the lease up', async () => {
    const storage = memoryStorage()
    const calls: string[] = []
    const [renewing, released] = [gate(), gate()]
    const events: typeof storage.events = {
      ...storage.events,
      async claim(...given) {
        if (calls.length > 0) {
          renewing.open()
          await released.opened
        }
        calls.push('claim')
        return storage.events.claim(...given)
      },
      advance(...given) {
        calls.push('advance')
        return storage.events.advance(...given)
      },
      release(...given) {
        calls.push('release')
        return storage.events.release(...given)
      },
    }
    const forge = aForge({ storage: { ...storage, events } })
    await churn(forge, 1)
    const stop = new AbortController()
    const handler: EventHandler = async () => {
      await renewing.opened
      stop.abort()
      setImmediate(() => released.open())
    }
    await forge.events.consume('mail', handler, { signal: stop.signal, leaseMilliseconds: 3 })
    expect(calls).toEqual(['claim', 'claim', 'advance', 'release'])
  })

  test('ends when its signal aborts while there is nothing to do', async () => {
    const stop = new AbortController()
    const consuming = aForge().events.consume('mail', () => undefined, { signal: stop.signal })
    setTimeout(() => stop.abort(), 10)
    await expect(consuming).resolves.toBeUndefined()
  })

  test('ends what it is handling before it ends, and has it behind it', async () => {
    const forge = aForge()
    await churn(forge, 1)
    const stop = new AbortController()
    let ended = false
    await forge.events.consume(
      'mail',
      async (_batch, { signal }) => {
        setTimeout(() => stop.abort(), 5)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await new Promise((resolve) => setTimeout(resolve, 5))
        ended = true
      },
      { signal: stop.signal },
    )
    await forge.pins.pin(olga, issue(2))
    const kept = keeper(1)
    await forge.events.consume('mail', kept.handler, { signal: kept.signal })
    expect([ended, kept.ids()]).toEqual([true, ['3']])
  })

  test('needs a name, a handler and a signal', async () => {
    const { events } = aForge()
    const { signal } = new AbortController()
    await expect(events.consume('', () => undefined, { signal })).rejects.toThrow(
      'the name of a consumer must be a non-empty string',
    )
    expect(await codeOf(() => events.consume('x'.repeat(65), () => undefined, { signal }))).toBe('INVALID_INPUT')
    await expect(events.consume('a', 'b' as unknown as EventHandler, { signal })).rejects.toThrow(TypeError)
    await expect(events.consume('a', () => undefined, {} as unknown as { signal: AbortSignal })).rejects.toThrow(
      '{ signal }',
    )
    await expect(events.consume('a', () => undefined, { signal, leaseMilliseconds: 0 })).rejects.toThrow(
      'leaseMilliseconds',
    )
  })
})

describe('closing the forge', () => {
  /** A storage that writes down what ends a consumer, in order. */
  function recordedStorage(calls: string[]): ForgeStorage<undefined> {
    const storage = memoryStorage()
    const recorded =
      <Given extends readonly unknown[], Answer>(name: string, call: (...given: Given) => Answer) =>
      (...given: Given): Answer => {
        calls.push(name)
        return call(...given)
      }
    const { events } = storage
    return {
      ...storage,
      events: {
        ...events,
        advance: recorded('advance', events.advance),
        release: recorded('release', events.release),
      },
      close: recorded('close', storage.close),
    }
  }

  test('ends a consumer that waits for events', async () => {
    const forge = aForge()
    const { signal } = new AbortController()
    const consuming = forge.events.consume('mail', () => undefined, { signal, pollMilliseconds: 3_600_000 })
    await forge.close()
    await expect(consuming).resolves.toBeUndefined()
    expect(getEventListeners(signal, 'abort')).toEqual([]) // the signal may outlive the forge
  })

  test('ends a consumer that waits for a busy storage', async () => {
    const storage = memoryStorage()
    const claimed = gate()
    const claim = (): never => {
      claimed.open()
      throw new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' })
    }
    const forge = aForge({ storage: { ...storage, events: { ...storage.events, claim } }, logger: false })
    const { signal } = new AbortController()
    const consuming = forge.events.consume('mail', () => undefined, { signal, pollMilliseconds: 3_600_000 })
    await claimed.opened
    await forge.close()
    await expect(consuming).resolves.toBeUndefined()
  })

  test('waits for the events in hand, moves the cursor, gives the lease up, and then closes the storage', async () => {
    const calls: string[] = []
    const forge = aForge({ storage: recordedStorage(calls) })
    await churn(forge, 1)
    const [reached, released] = [gate(), gate()]
    const handler: EventHandler = async (_batch, { signal }) => {
      reached.open()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      calls.push('stop')
      await released.opened
      calls.push('handled')
    }
    const consuming = forge.events.consume('mail', handler, { signal: new AbortController().signal })
    await reached.opened
    const closed = Promise.all([forge.close(), forge.close()])
    released.open()
    await Promise.all([closed, consuming])
    expect(calls).toEqual(['stop', 'handled', 'advance', 'release', 'close', 'close'])
  })

  test('is not logged as a failure of a handler that ends by its signal', async () => {
    const logged: string[] = []
    const forge = aForge({ logger: collecting(logged) })
    await churn(forge, 1)
    const reached = gate()
    const handler: EventHandler = (_batch, { signal }) => {
      reached.open()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const consuming = forge.events.consume('mail', handler, { signal: new AbortController().signal })
    await reached.opened
    await forge.close()
    await consuming
    expect(logged).toEqual([])
  })

  test('does not wait for ever for a handler that waits for the close', async () => {
    vi.useFakeTimers()
    try {
      const logged: string[] = []
      const forge = aForge({ logger: collecting(logged) })
      await churn(forge, 1)
      const handler: EventHandler = () => forge.close()
      const consuming = forge.events.consume('mail', handler, { signal: new AbortController().signal })
      await vi.advanceTimersByTimeAsync(5000)
      await expect(consuming).resolves.toBeUndefined()
      expect(logged).toEqual([
        'a consumer could not release its lease: others must wait until it expires',
        'the forge was closed before a consumer ended: its last events are delivered again',
      ])
    } finally {
      vi.useRealTimers()
    }
  })

  test('refuses to consume afterwards', async () => {
    const forge = aForge()
    await forge.close()
    const consuming = forge.events.consume('mail', () => undefined, { signal: new AbortController().signal })
    await expect(consuming).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: 'the forge is closed' })
  })

  test('of another forge on the same storage ends a consumer with its error', async () => {
    const logged: string[] = []
    const storage = memoryStorage()
    const forge = aForge({ storage, logger: collecting(logged) })
    const { signal } = new AbortController()
    const consuming = forge.events.consume('mail', () => undefined, { signal, pollMilliseconds: 1 })
    await aForge({ storage }).close()
    await expect(consuming).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: 'the storage is closed' })
    expect(logged).toEqual(['a consumer could not release its lease: others must wait until it expires'])
  })
})

describe('competing consumers of one name', () => {
  const pace = { leaseMilliseconds: 60, pollMilliseconds: 5 }

  function twoForges() {
    const storage = memoryStorage()
    const parts = { storage, policy: everyone, membership: { isMember: () => false }, logger: false } as const
    return [createForge<Person, undefined>(parts), createForge<Person, undefined>(parts)] as const
  }

  test('take turns: each event is handled once, in order', async () => {
    const [one, other] = twoForges()
    await churn(one, 30)
    const kept = keeper(60)
    const options = { signal: kept.signal, batch: 3, ...pace }
    await Promise.all([one, other].map((forge) => forge.events.consume('mail', kept.handler, options)))
    expect(kept.ids()).toEqual(upTo(60))
  })

  test('hold the lease for as long as a handler takes', async () => {
    const [one, other] = twoForges()
    await churn(one, 1)
    const stop = new AbortController()
    let calls = 0
    const slow: EventHandler = async () => {
      calls += 1
      await new Promise((resolve) => setTimeout(resolve, 1200))
      stop.abort()
    }
    const options = { signal: stop.signal, ...pace, leaseMilliseconds: 400 }
    await Promise.all([one, other].map((forge) => forge.events.consume('mail', slow, options)))
    expect(calls).toBe(1)
  })

  test('take over from one that is silent for longer than its lease', async () => {
    const [one] = twoForges()
    const storage = memoryStorage()
    const forge = createForge<Person, undefined>({ storage, policy: everyone, membership: { isMember: () => false } })
    await churn(forge, 1)
    await storage.events.claim({ name: 'mail', holder: 'a process that died' }, 30)
    const kept = keeper(2)
    await forge.events.consume('mail', kept.handler, { signal: kept.signal, ...pace })
    expect(kept.ids()).toEqual(['1', '2'])
    await one.close()
  })

  test('give the lease up when they end', async () => {
    const storage = memoryStorage()
    const forge = createForge<Person, undefined>({ storage, policy: everyone, membership: { isMember: () => false } })
    await churn(forge, 1)
    const kept = keeper(2)
    await forge.events.consume('mail', kept.handler, { signal: kept.signal })
    expect(await storage.events.claim({ name: 'mail', holder: 'another' }, 1000)).toBeDefined()
  })
})

describe('pruning', () => {
  const NEVER = new Date('9999-01-01T00:00:00Z')

  test('removes what every consumer has behind it, and keeps the history of living issues', async () => {
    const forge = aForge()
    await churn(forge, 1)
    await forge.blocks.block(olga, { organizationId: 5, account: { kind: 'user', id: 9 } })
    const kept = keeper(3)
    await forge.events.consume('mail', kept.handler, { signal: kept.signal })
    expect(await forge.events.prune({ before: NEVER })).toBe(1)
    expect((await forge.pins.history(olga, issue(1))).map((event) => event.type)).toEqual([
      'issue.pinned',
      'issue.unpinned',
    ])
  })

  test('waits for the slowest consumer until that is forgotten', async () => {
    const forge = aForge({ logger: false })
    const stop = AbortSignal.abort()
    await forge.events.consume('mail', () => undefined, { signal: stop })
    await forge.blocks.block(olga, { organizationId: 5, account: { kind: 'user', id: 9 } })
    const kept = keeper(0)
    const soon = new AbortController()
    setTimeout(() => soon.abort(), 5)
    await forge.events.consume(
      'idle',
      async () => {
        throw new Error('never')
      },
      { signal: soon.signal },
    )
    expect(await forge.events.prune({ before: NEVER })).toBe(0)
    expect(await forge.events.forget('idle')).toBe(true)
    expect(await forge.events.forget('idle')).toBe(false)
    expect(await forge.events.prune({ before: NEVER })).toBe(1)
    expect(kept.events).toEqual([])
  })

  test('keeps the oldest cursor: an earlier one is refused with a cursor to continue from', async () => {
    const forge = aForge()
    const { cursor: old } = await forge.events.read()
    await forge.blocks.block(olga, { organizationId: 5, account: { kind: 'user', id: 9 } })
    await forge.events.prune({ before: NEVER })
    await forge.pins.pin(olga, issue(1))
    const refusal = await forge.events.read({ after: old }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'EVENTS_PRUNED', details: { oldest: expect.any(String) } })
    expect((await forge.events.read()).events.map((event) => event.type)).toEqual(['issue.pinned'])
  })

  test('needs a date', async () => {
    await expect(aForge().events.prune({ before: new Date(Number.NaN) })).rejects.toThrow('before must be a valid Date')
  })

  test.each([undefined, null, {}])('needs more than %s', async (options) => {
    const { events } = aForge()
    const pruned = Promise.resolve(Reflect.apply(events.prune, events, [options]))

    await expect(pruned).rejects.toThrow(/^prune needs { before }/)
  })
})
