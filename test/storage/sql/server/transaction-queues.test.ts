import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, expect, test, vi } from 'vitest'
import type { Loan, TransactionQueue } from '../../../../src/storage/sql/server/transaction-queues.ts'
import { MAX_BEFORE_COMMIT_MS, TransactionQueues } from '../../../../src/storage/sql/server/transaction-queues.ts'
import { heldInBeforeCommit } from '../../../../src/testing/storage-contract/cases/gate.ts'
import { outcomeOf } from '../../../../src/testing/storage-contract/cases/storage-case.ts'

/** Every transaction has a connection of its own. */
const EACH = { beneath: (transaction: object) => transaction }

const REFUSAL = 'beforeCommit must not change the forge'

/** The queue of one transaction, and one call that is in its `beforeCommit`. */
async function lentQueue(queues: TransactionQueues<object> = new TransactionQueues(EACH)) {
  const transaction = {}
  const queue = await queues.with(transaction, async (found) => found)
  const first = await heldInBeforeCommit((hold) => queue.write(() => queue.lend(hold)))
  return { queue, first }
}

async function answer(text: string): Promise<string> {
  return text
}

const write = (queue: TransactionQueue, text: string) => queue.write(() => answer(text))

afterEach(() => void vi.useRealTimers())

test('calls wait for the beforeCommit of another, and are made in their order', async () => {
  const { queue, first } = await lentQueue()
  const made: string[] = []
  const calls = [
    queue.write(async () => made.push('a change')),
    queue.read(async () => made.push('a read')),
    queue.write(async () => made.push('another change')),
  ]
  await answer('the calls have had a turn')
  expect(made).toEqual([])
  first.release()
  await Promise.all(calls)

  expect(made).toEqual(['a change', 'a read', 'another change'])
})

test('what a beforeCommit calls does not wait: reads are made, changes refused', async () => {
  const queue = await new TransactionQueues(EACH).with({}, async (found) => found)
  const outcomes = await queue.write(() =>
    queue.lend(async () => {
      await answer('a turn')
      return [await outcomeOf(() => queue.read(() => answer('read'))), await outcomeOf(() => write(queue, 'written'))]
    }),
  )

  expect(outcomes).toEqual([{ value: 'read' }, { thrown: expect.any(TypeError) }])
})

test('what a beforeCommit calls inside the beforeCommit of another transaction is refused on both', async () => {
  const queues = new TransactionQueues(EACH)
  const [outer, inner] = [await queues.with({}, async (found) => found), await queues.with({}, async (found) => found)]
  const outcomes = await outer.write(() =>
    outer.lend(() =>
      inner.write(() =>
        inner.lend(async () => [
          await outcomeOf(() => write(outer, 'written')),
          await outcomeOf(() => write(inner, 'written')),
        ]),
      ),
    ),
  )

  expect(outcomes).toEqual([{ thrown: expect.any(TypeError) }, { thrown: expect.any(TypeError) }])
})

test('what a beforeCommit has begun is like any other call when that is over', async () => {
  const queue = await new TransactionQueues(EACH).with({}, async (found) => found)
  let later: Promise<string> | undefined
  let begin: (() => void) | undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  await queue.write(() =>
    queue.lend(() => {
      later = begun.then(() => write(queue, 'written'))
    }),
  )
  const second = await heldInBeforeCommit((hold) => queue.write(() => queue.lend(hold)))
  begin?.()
  await answer('the call has had a turn')
  second.release()

  expect(await later).toBe('written')
})

test('calls that a beforeCommit keeps waiting for too long are refused as busy, and not made later', async () => {
  vi.useFakeTimers()
  const { queue, first } = await lentQueue()
  const made: string[] = []
  const [early, late] = [1, 2].map((n) => outcomeOf(() => queue.write(async () => made.push(`change ${n}`))))
  await vi.advanceTimersByTimeAsync(MAX_BEFORE_COMMIT_MS)
  const read = outcomeOf(() => queue.read(() => answer('read')))
  await vi.advanceTimersByTimeAsync(MAX_BEFORE_COMMIT_MS)
  const refused = { thrown: expect.objectContaining({ code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }) }
  expect(await Promise.all([early, late, read])).toEqual([refused, refused, refused])
  first.release()
  await first.outcome

  expect(await write(queue, 'written')).toBe('written')
  expect([made, vi.getTimerCount()]).toEqual([[], 0])
})

test('if the runtime cannot follow asynchronous calls, reads do not wait for a beforeCommit, and every change is refused', async () => {
  const { queue, first } = await lentQueue(new TransactionQueues(EACH, () => undefined))

  expect(await queue.read(() => answer('read'))).toBe('read')
  await expect(write(queue, 'written')).rejects.toThrow(REFUSAL)
  first.release()
  await first.outcome
  expect(await write(queue, 'written')).toBe('written')
})

test('asynchronous calls are followed only while a beforeCommit runs: until then, and from then on, promises cost no more', async () => {
  const states: string[] = []
  class Context extends AsyncLocalStorage<Loan> {
    override disable() {
      super.disable()
      states.push('followed no more')
    }
  }
  const queues = new TransactionQueues(EACH, () => new Context())
  const { first } = await lentQueue(queues)
  const { first: second } = await lentQueue(queues)
  first.release()
  await first.outcome
  states.push('the first is over')
  second.release()
  await second.outcome
  const { queue, first: third } = await lentQueue(queues)
  states.push('a later one has begun')
  third.release()
  await third.outcome

  expect(states).toEqual(['the first is over', 'followed no more', 'a later one has begun', 'followed no more'])
  expect(await write(queue, 'written')).toBe('written')
})

test('a runtime in which following calls cannot be ended is used as it is', async () => {
  class Context extends AsyncLocalStorage<Loan> {
    override disable() {
      throw new TypeError('not implemented')
    }
  }
  const { queue, first } = await lentQueue(new TransactionQueues(EACH, () => new Context()))
  first.release()

  expect(await first.outcome).toEqual({ value: undefined })
  expect(await write(queue, 'written')).toBe('written')
})
