import type { Id } from '../schema/ids.ts'
import { toId } from '../schema/ids.ts'
import type { ForgeEvent } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { after, isPromise, requireValue } from '../schema/sync-or-async.ts'
import type { BeforeCommit, ChangeSignal, WriteContext } from '../storage/contract/stores.ts'
import type { Environment } from './environment.ts'
import type { Actor, Caller, CallOptions, PortContext } from './ports.ts'

/** One call of a service: who makes it and where it runs. */
export interface Call<A extends Actor, Tx> {
  readonly actor: Caller<A>
  /**
   * For an HTTP request, the signal is created on first access: an AbortSignal costs more than the rest of the call.
   * Read it only before waiting.
   */
  readonly signal: AbortSignal | undefined
  /** The same signal for a store. For an HTTP request, reading `aborted` does not create the AbortSignal. */
  readonly changeSignal: ChangeSignal | undefined
  readonly transaction: Tx | undefined
  /** Whether the call may wait for a promise. False inside `withTransactionSync`. */
  readonly mayWait: boolean
  /** Whether the service asks the policy. False for the HTTP routes, which have asked it already. */
  readonly guarded: boolean
  /** The host's function that runs in every change before the commit. */
  readonly beforeCommit: BeforeCommit<Tx> | undefined
  /** Called with the events of a change after they are written. */
  announce(events: readonly ForgeEvent[]): void
}

/** The options of a call, as the HTTP routes give them. */
export interface RequestOptions extends CallOptions {
  /**
   * Whether the signal has aborted. If defined, the signal is created only when it has, or when a listener is added.
   */
  readonly aborted?: boolean | undefined
}

/** Opens a call: creates the `Call` that is passed to a service method. */
export type OpenCall<A extends Actor, Tx> = (actor: Caller<A>, options: RequestOptions | undefined) => Call<A, Tx>

/** The properties that are the same for all calls of a set of bound services. */
export type CallPlace<Tx> = Pick<Call<never, Tx>, 'transaction' | 'mayWait' | 'guarded' | 'beforeCommit' | 'announce'>

/** Returns a function that opens calls with these common properties. */
export function openCalls<A extends Actor, Tx>(place: CallPlace<Tx>): OpenCall<A, Tx> {
  return (actor, options) => new OpenedCall(place, actor, options)
}

class OpenedCall<A extends Actor, Tx> implements Call<A, Tx> {
  readonly actor: Caller<A>
  readonly transaction: Tx | undefined
  readonly mayWait: boolean
  readonly guarded: boolean
  readonly beforeCommit: BeforeCommit<Tx> | undefined
  readonly #place: CallPlace<Tx>
  readonly #options: RequestOptions | undefined

  constructor(place: CallPlace<Tx>, actor: Caller<A>, options: RequestOptions | undefined) {
    this.actor = actor
    this.transaction = place.transaction
    this.mayWait = place.mayWait
    this.guarded = place.guarded
    this.beforeCommit = place.beforeCommit
    this.#place = place
    this.#options = options
  }

  get signal(): AbortSignal | undefined {
    return this.#options?.signal
  }

  get changeSignal(): ChangeSignal | undefined {
    const options = this.#options
    // The HTTP routes give their own options. Those of a host may be any object, and are read as documented.
    return this.guarded || options?.aborted === undefined ? options?.signal : new LazySignal(options)
  }

  announce(events: readonly ForgeEvent[]): void {
    this.#place.announce(events)
  }
}

/** The signal of a request: reading whether it has aborted does not create it. */
class LazySignal implements ChangeSignal {
  readonly #options: RequestOptions

  constructor(options: RequestOptions) {
    this.#options = options
  }

  get aborted(): boolean {
    return this.#options.aborted === true && this.#options.signal?.aborted === true
  }

  get reason(): unknown {
    return this.#options.signal?.reason
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  addEventListener(type: 'abort', listener: () => void): void {
    this.#options.signal?.addEventListener(type, listener)
  }

  removeEventListener(type: 'abort', listener: () => void): void {
    this.#options.signal?.removeEventListener(type, listener)
  }
}

/** Checks a caller. @throws TypeError when it is neither an object with an id, nor 'anonymous', nor 'system' */
export function checkCaller<A extends Actor>(actor: Caller<A>): void {
  if (actor === 'anonymous' || actor === 'system') return
  if (typeof actor !== 'object' || actor === null || actor.id === undefined) {
    throw new TypeError("an actor must be an object with an id, 'anonymous' or 'system'")
  }
}

/** Returns the caller's id, as stored in events and rows. Null for 'anonymous' and for the host's own code. */
export function actorIdOf<A extends Actor>(actor: Caller<A>): Id | null {
  checkCaller(actor)
  return typeof actor === 'string' ? null : toId(actor.id, 'actor.id')
}

/** Creates the context of the call that is passed to a port. */
export function portContext<Who, Tx>(
  call: Pick<Call<never, Tx>, 'signal' | 'transaction'>,
  actor: Who,
): PortContext<Who, Tx> {
  return new CallContext(call, actor)
}

class CallContext<Who, Tx> implements PortContext<Who, Tx> {
  readonly actor: Who
  readonly transaction: Tx | undefined
  readonly #call: Pick<Call<never, Tx>, 'signal'>

  constructor(call: Pick<Call<never, Tx>, 'signal' | 'transaction'>, actor: Who) {
    this.actor = actor
    this.transaction = call.transaction
    this.#call = call
  }

  get signal(): AbortSignal | undefined {
    return this.#call.signal
  }
}

/**
 * Returns what a port or a storage returned. Inside `withTransactionSync` it refuses a promise, so that no code behind
 * it runs after the host's transaction.
 *
 * @throws TypeError when the answer is a promise and the call may not wait
 */
export function answerOf<A extends Actor, Tx, T>(call: Call<A, Tx>, answer: MaybePromise<T>): MaybePromise<T> {
  return call.mayWait ? answer : requireValue(answer)
}

/** Like `answerOf`, for a port: waits for a promise only until the caller's signal aborts. */
export function portAnswerOf<A extends Actor, Tx, T>(call: Call<A, Tx>, answer: MaybePromise<T>): MaybePromise<T> {
  if (!isPromise(answer) || !call.mayWait) return answerOf(call, answer)

  const { signal } = call
  if (signal === undefined) return answer
  return after(beforeAbort(signal, answer), (value) => {
    signal.throwIfAborted()
    return value
  })
}

function beforeAbort<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    const settled = Promise.resolve(answer).then(resolve, reject)
    if (signal.aborted) return abort() // aborted while the port was called: no event will follow

    signal.addEventListener('abort', abort, { once: true })
    settled.finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Creates the context of the call that is passed to a store. */
export function writeContext<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
): WriteContext<Tx> {
  return {
    by: { actorId: actorIdOf(call.actor), at: () => environment.now() },
    beforeCommit: call.beforeCommit,
    transaction: call.transaction,
  }
}
