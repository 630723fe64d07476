import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { OutboxConsumer } from '../../../src/core/events/outbox-consumer.ts'
import { WakeUp } from '../../../src/core/events/wake-up.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import { pin } from '../../../src/testing/storage-contract/cases/sample-changes.ts'

const BOARD = { repositoryId: '10', kind: 'issue' } as const

test('a consumer has one listener on its signal, however many batches it has handled', async () => {
  const storage = memoryStorage()
  for (const id of ['1', '2', '3']) await pin(storage, BOARD, id)
  const stop = new AbortController()
  const listeners: number[] = []
  const consumer = new OutboxConsumer({
    events: storage.events,
    consumer: { name: 'mail', holder: 'this process' },
    handler() {
      listeners.push(getEventListeners(stop.signal, 'abort').length)
      if (listeners.length === 3) stop.abort()
    },
    pace: { leaseMilliseconds: 30_000, pollMilliseconds: 1000, batch: 1 },
    wakeUp: new WakeUp(),
    logger: { error: () => undefined, warn: () => undefined },
  })
  await consumer.run(stop.signal)

  expect(listeners).toEqual([1, 1, 1])
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])
})

test('a wait that was ended early leaves neither a timer nor a listener', async () => {
  vi.useFakeTimers()
  try {
    const wakeUp = new WakeUp()
    const { signal } = new AbortController()
    const waits = [wakeUp.wait(1000, signal), wakeUp.wait(1000, signal)]
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([2, 2])
    wakeUp.notify()
    await Promise.all(waits)
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  } finally {
    vi.useRealTimers()
  }
})
