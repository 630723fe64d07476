import type { Outcome } from './storage-case.ts'
import { outcomeOf } from './storage-case.ts'

const A_WHILE = 300

/** Something to wait for until it is opened. */
interface Gate {
  readonly opened: Promise<void>
  open(): void
}

/** Makes a closed gate. */
function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/**
 * Settles when the work has, or a while later: then it waits for something, a lock say. A storage in which it needs longer
 * to come there passes all the same; the order that the case is about did not arise then.
 */
export async function whileWaiting(work: Promise<unknown>, milliseconds: number = A_WHILE): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([patience, work.then(ignore, ignore)])
  clearTimeout(timer)
}

/** Work that stands still in its `beforeCommit`, where the storage lets that wait. */
export interface HeldWork {
  /** How it ends, when it has been let go. */
  readonly outcome: Promise<Outcome>
  /** Lets it go on. */
  letGo(): void
}

/** Starts work, and settles when its `beforeCommit` has been reached: it has written everything then and holds its locks. */
export async function heldInBeforeCommit(start: (beforeCommit: () => Promise<void>) => unknown): Promise<HeldWork> {
  const [reached, held] = [gate(), gate()]
  const outcome = outcomeOf(() =>
    start(() => {
      reached.open()
      return held.opened
    }),
  )
  await Promise.race([reached.opened, outcome])
  return { outcome, letGo: () => held.open() }
}

/** Lets others run for so many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

function ignore(): void {}
