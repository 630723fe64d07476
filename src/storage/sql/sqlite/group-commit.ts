import { AsyncResource } from 'node:async_hooks'
import { isForgeError } from '../../../schema/errors.ts'
import { unavailable } from '../errors.ts'
import { MAX_CALL_MS, pauseBefore } from '../retry.ts'
import type { Connection } from './connection.ts'
import { NotUndone } from './connection.ts'
import type { SqliteDatabase } from './database.ts'
import type { SqliteHandle } from './drivers.ts'

/** A batch has at most so many changes, because it stops the event loop. */
const MAX_CHANGES = 256

/** A batch collects for at most so many milliseconds. */
const MAX_COLLECTING_MS = 5

/** Taken when the module is loaded: behind fake timers, with which a test sets the time, a change would wait forever. */
const nextTurn = setImmediate

/** A change that waits for its batch. */
interface Pending<H extends SqliteHandle> {
  /** Runs in the open transaction. */
  readonly work: (writer: Connection<H>) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly signal: AbortSignal | undefined
  /** When it stops waiting for a busy database. */
  readonly deadline: number
}

/**
 * Commits changes together, each in its own savepoint, and answers them, refusals too, after the COMMIT. Durable writes
 * then cost less than one sync each. A batch collects as long as each turn of the event loop brings another change: Node
 * accepts one new connection in a turn, so that requests on new connections would be committed one by one, at a fifth of
 * the speed. A batch runs from BEGIN to COMMIT synchronously.
 */
export class GroupCommit<H extends SqliteHandle> {
  readonly #database: SqliteDatabase<H>
  readonly #waiting: Pending<H>[] = []
  readonly #whenIdle: (() => void)[] = []
  #state: 'idle' | 'scheduled' | 'running' = 'idle'
  #refusals = 0

  constructor(database: SqliteDatabase<H>) {
    this.#database = database
  }

  /** Whether a batch is running: a call made now comes from inside it. */
  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /**
   * Adds a change to the batch. The change may run more than once, and is answered once: with the reason of the signal if
   * that aborts before. It runs in the asynchronous context of its caller, not in that of the batch: it calls the host.
   */
  submit<T>(change: (writer: Connection<H>) => T, signal: AbortSignal | undefined): Promise<T> {
    const context = new AsyncResource('forgelet.change') // `bind` takes 20 microseconds on Node 20
    const work = (writer: Connection<H>): T => context.runInAsyncScope(change, undefined, writer)
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject, signal, deadline: performance.now() + MAX_CALL_MS })
      if (this.#state === 'idle') this.#schedule()
    })
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: it is resolved with what the work returns
    return answered as Promise<T>
  }

  /** Resolves when everything submitted so far is answered. */
  async settled(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  #schedule(): void {
    this.#state = 'scheduled'
    if (this.#refusals === 0) this.#collect(0, performance.now() + MAX_COLLECTING_MS)
    else setTimeout(() => this.#flush(), pauseBefore(this.#refusals))
  }

  /** @param known - how many changes were waiting one turn ago */
  #collect(known: number, end: number): void {
    nextTurn(() => {
      const count = this.#waiting.length
      if (count > known && count < MAX_CHANGES && performance.now() < end) this.#collect(count, end)
      else this.#flush()
    })
  }

  #flush(): void {
    this.#state = 'running'
    const batch = this.#waiting.splice(0, MAX_CHANGES)
    const [gone, wanted] = [batch.filter(hasAborted), batch.filter((pending) => !hasAborted(pending))]
    for (const { reject, signal } of gone) reject(signal?.reason)
    if (wanted.length > 0) this.#commit(wanted)
    this.#state = 'idle'
    if (this.#waiting.length > 0) {
      this.#schedule()
      return
    }
    this.#refusals = 0
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  #commit(batch: readonly Pending<H>[]): void {
    try {
      const answers = this.#database.write((writer) => batch.map((pending) => attempt(writer, pending)))
      this.#refusals = 0
      for (const answer of answers) answer()
    } catch (error) {
      this.#refuse(batch, error)
    }
  }

  /**
   * Nothing of the batch is written. If the database is busy, the batch waits. Otherwise, and if it was busy for too
   * long, the next batch has another writer: the host may have left a statement or a transaction open on this one.
   */
  #refuse(batch: readonly Pending<H>[], error: unknown): void {
    const isBusy = isForgeError(error, 'STORAGE_BUSY')
    const now = performance.now()
    const refused = batch.filter(({ deadline }) => !isBusy || deadline <= now)
    this.#refusals = isBusy ? this.#refusals + 1 : 0
    this.#waiting.unshift(...batch.filter((pending) => !refused.includes(pending)))
    for (const { reject } of refused) reject(error)
    if (refused.length > 0) this.#database.replaceWriter()
  }
}

function hasAborted({ signal }: { readonly signal: AbortSignal | undefined }): boolean {
  return signal?.aborted === true
}

/** Makes one change of a batch. Returns what answers its caller after the COMMIT. @throws the error of the whole batch */
function attempt<H extends SqliteHandle>(writer: Connection<H>, pending: Pending<H>): () => void {
  const { work, resolve, reject, signal } = pending
  if (hasAborted(pending)) return () => reject(signal?.reason)
  try {
    const value = writer.atomically(() => work(writer))
    return () => resolve(value)
  } catch (error) {
    if (!(error instanceof NotUndone)) return () => reject(error)
    reject(error.cause)
    throw lostBatch(error.cause)
  }
}

/** Creates the error for the other changes of a batch whose transaction ended with one of them. */
function lostBatch(cause: unknown): Error {
  if (isForgeError(cause, 'STORAGE_UNAVAILABLE')) {
    return unavailable('the transaction was ended before it could be committed', cause)
  }
  return unavailable(
    'a beforeCommit or a trigger ended its transaction: the outcome of its batch is unknown',
    cause,
    'unknown',
  )
}
