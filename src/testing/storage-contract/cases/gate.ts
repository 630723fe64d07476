import type { Outcome } from './storage-case.ts'
import { outcomeOf } from './storage-case.ts'

const MAX_WAIT_MS = 300

/** A promise that is fulfilled when the gate is opened. */
interface Gate {
  readonly opened: Promise<void>
  open(): void
}

/** Creates a closed gate. */
function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/**
 * Settles when the work settles, or after the given time. In the latter case the work presumably waits, for example for
 * a lock. A slow storage that has not reached the lock by then passes as well: the order that the case is about did not
 * occur.
 */
export async function whileWaiting(work: Promise<unknown>, milliseconds: number = MAX_WAIT_MS): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([timeout, work.then(ignore, ignore)])
  clearTimeout(timer)
}

/** Work that is paused in its `beforeCommit`, if the storage allows it to wait there. */
export interface HeldWork {
  /** The outcome of the work, after it was resumed. */
  readonly outcome: Promise<Outcome>
  /** Resumes the work. */
  release(): void
}

/**
 * Starts work, and settles when it reaches its `beforeCommit`. At that point it has written everything and holds its
 * locks.
 */
export async function heldInBeforeCommit(start: (beforeCommit: () => Promise<void>) => unknown): Promise<HeldWork> {
  const [reached, held] = [gate(), gate()]
  const outcome = outcomeOf(() =>
    start(() => {
      reached.open()
      return held.opened
    }),
  )
  await Promise.race([reached.opened, outcome])
  return { outcome, release: () => held.open() }
}

/**
 * Makes a change that pauses before its commit, and another that meets it there. Resumes the first one when the second has
 * settled or presumably waits.
 *
 * @param meanwhile - called before the first one is resumed
 * @returns the outcomes of both
 */
export async function meeting<T>(
  first: (beforeCommit: () => Promise<void>) => unknown,
  second: () => T,
  meanwhile: () => void = ignore,
): Promise<readonly [Outcome, Outcome<Awaited<T>>]> {
  const held = await heldInBeforeCommit(first)
  const other = outcomeOf(second)
  await whileWaiting(other)
  meanwhile()
  held.release()
  return [await held.outcome, await other]
}

/** Waits for a number of turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

function ignore(): void {}
