import { getEventListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CallDeadline } from '../../../../src/storage/sql/server/call-deadline.ts'

const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }
const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }

function never(): Promise<never> {
  return new Promise(() => undefined)
}

test('a call that expires is answered, interrupts what it waits for, and runs nothing more', async () => {
  const deadline = new CallDeadline({ total: 20 })
  const interrupted: string[] = []
  deadline.onInterrupt(() => interrupted.push('one'))
  deadline.onInterrupt(() => interrupted.push('removed'))()

  await expect(deadline.run(() => deadline.ask(never))).rejects.toMatchObject(NOTHING_DONE)
  expect(interrupted).toEqual(['one'])
  expect(deadline.isOver).toBe(true)
  await expect(deadline.ask(async () => interrupted.push('run'))).rejects.toMatchObject(NOTHING_DONE)
  expect(() => deadline.startCommit()).toThrow('did not answer')
  expect(interrupted).toEqual(['one'])
})

test('a call that ends in time interrupts nothing', async () => {
  const deadline = new CallDeadline({ total: 200 })
  const interrupted: string[] = []
  deadline.onInterrupt(() => interrupted.push('one'))

  expect(await deadline.run(() => deadline.ask(async () => 'answer'))).toBe('answer')
  await pause(300)
  expect(interrupted).toEqual([])
})

test('a signal ends a call at once, until its COMMIT is sent', async () => {
  const early = new AbortController()
  const call = new CallDeadline({ signal: early.signal })
  const running = call.run(() => call.ask(never))
  early.abort(new Error('gone'))
  await expect(running).rejects.toThrow('gone')

  const late = new AbortController()
  const committing = new CallDeadline({ signal: late.signal })
  const committed = committing.run(() => {
    committing.startCommit()
    late.abort()
    return committing.ask(async () => 'committed')
  })
  expect(await committed).toBe('committed')
})

test('a signal has no listener after the calls that were made with it', async () => {
  const { signal } = new AbortController()
  await new CallDeadline({ signal }).run(async () => 'answer')
  await expect(new CallDeadline({ signal }).run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  await expect(new CallDeadline({ signal, total: 5 }).run(never)).rejects.toMatchObject(NOTHING_DONE)

  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a signal that has aborted before lets nothing run', async () => {
  const deadline = new CallDeadline({ signal: AbortSignal.abort(new Error('gone')) })
  const ran: string[] = []

  await expect(deadline.run(async () => ran.push('work'))).rejects.toThrow('gone')
  expect(ran).toEqual([])
})

test('the outcome is unknown once the COMMIT is sent', async () => {
  const deadline = new CallDeadline({ total: 20 })
  const committing = deadline.run(() => {
    deadline.startCommit()
    return deadline.ask(never)
  })

  await expect(committing).rejects.toMatchObject(UNKNOWN)
})

test('a statement that grows with the data outlives the deadline of an ordinary call', async () => {
  const deadline = new CallDeadline({ total: 50 })

  expect(await deadline.run(() => deadline.ask(() => pause(200, 'removed'), true))).toBe('removed')
})

test('an answer that came while the process was busy counts', async () => {
  const deadline = new CallDeadline({ total: 50 })
  const answer = new Promise<string>((resolve) => setImmediate(() => resolve('answer')))
  const running = deadline.run(() => deadline.ask(() => answer))
  const end = performance.now() + 200
  while (performance.now() < end);

  expect(await running).toBe('answer')
})

test('the time for locks ends before the call does, and is never less than the least', () => {
  expect(new CallDeadline().lockWait).toBeLessThanOrEqual(4000)
  expect(new CallDeadline().lockWait).toBeGreaterThan(3000)
  expect(new CallDeadline({ total: 3000 }).lockWait).toBeLessThanOrEqual(2000)
  expect(new CallDeadline({ total: 10 }).lockWait).toBe(100)
})

test('the waits of a long call add up', async () => {
  const deadline = new CallDeadline()
  const left = await deadline.run(async () => {
    await deadline.ask(async () => undefined, true)
    await deadline.ask(() => pause(300))
    await deadline.ask(() => pause(300))
    return deadline.lockWait
  })

  expect(left).toBeLessThan(3500)
})

test('a call whose storage is closed has an unknown outcome once its COMMIT is sent', async () => {
  const outcomes = []
  for (const isCommitting of [false, true]) {
    const deadline = new CallDeadline()
    const call = deadline.run(() => {
      if (isCommitting) deadline.startCommit()
      return deadline.ask(never)
    })
    deadline.close()
    outcomes.push(await call.catch((error: unknown) => error))
  }

  expect(outcomes).toMatchObject([NOTHING_DONE, UNKNOWN])
})
