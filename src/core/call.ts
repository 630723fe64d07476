import type { ForgeEvent } from '../schema/events.ts'
import type { Id } from '../schema/ids.ts'
import { toId } from '../schema/ids.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { isPromise, wait } from '../schema/sync-or-async.ts'
import type { BeforeCommit, WriteContext } from '../storage/contract/stores.ts'
import type { Environment } from './environment.ts'
import type { Actor, Caller, CallOptions, PortContext } from './ports.ts'

/** One call of a service: who asks, and where it runs. */
export interface Call<A extends Actor, Tx> {
  readonly actor: Caller<A>
  /** Of a request it is made when it is first looked at, which costs more than all else here: look where something is waited for. */
  readonly signal: AbortSignal | undefined
  readonly transaction: Tx | undefined
  /** Whether the policy is still to be asked; false for the routes, which have asked it. */
  readonly guarded: boolean
  /** The host's own part of every change, before it is committed. */
  readonly beforeCommit: BeforeCommit<Tx> | undefined
  /** Takes the events of a change once it is written. */
  announce(events: readonly ForgeEvent[]): void
}

/** Makes the call that a service method runs as. */
export type OpenCall<A extends Actor, Tx> = (actor: Caller<A>, options: CallOptions | undefined) => Call<A, Tx>

/** Where calls run, and what becomes of them: the same for all calls of a face. */
export type CallPlace<Tx> = Pick<Call<never, Tx>, 'transaction' | 'guarded' | 'beforeCommit' | 'announce'>

/** Makes the way to open calls in one place. */
export function openCalls<A extends Actor, Tx>(place: CallPlace<Tx>): OpenCall<A, Tx> {
  return (actor, options) => new OpenedCall(place, actor, options)
}

class OpenedCall<A extends Actor, Tx> implements Call<A, Tx> {
  readonly actor: Caller<A>
  readonly transaction: Tx | undefined
  readonly guarded: boolean
  readonly beforeCommit: BeforeCommit<Tx> | undefined
  readonly #place: CallPlace<Tx>
  readonly #options: CallOptions | undefined

  constructor(place: CallPlace<Tx>, actor: Caller<A>, options: CallOptions | undefined) {
    this.actor = actor
    this.transaction = place.transaction
    this.guarded = place.guarded
    this.beforeCommit = place.beforeCommit
    this.#place = place
    this.#options = options
  }

  get signal(): AbortSignal | undefined {
    return this.#options?.signal
  }

  announce(events: readonly ForgeEvent[]): void {
    this.#place.announce(events)
  }
}

/** @throws TypeError when it is neither an object with an id, nor 'anonymous', nor 'system' */
export function checkAsker<A extends Actor>(actor: Caller<A>): void {
  if (actor === 'anonymous' || actor === 'system') return
  if (typeof actor !== 'object' || actor === null || actor.id === undefined) {
    throw new TypeError("an actor must be an object with an id, 'anonymous' or 'system'")
  }
}

/** The id that events and rows keep of who asked; null for nobody and for the host's own code. */
export function actorIdOf<A extends Actor>(actor: Caller<A>): Id | null {
  return typeof actor === 'string' ? null : toId(actor.id, 'actor.id')
}

/** What a port is told about the call. */
export function portContext<A extends Actor, Who, Tx>(call: Call<A, Tx>, actor: Who): PortContext<Who, Tx> {
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

/** Waits for a port's answer, and no longer than the caller does. What is answered at once is nothing to wait for. */
export function* answerOf<A extends Actor, Tx, T>(call: Call<A, Tx>, answer: MaybePromise<T>): SyncOrAsync<T> {
  if (!isPromise(answer)) return answer

  const { signal } = call
  const value = yield* wait(signal === undefined ? answer : beforeAbort(signal, answer))
  signal?.throwIfAborted()
  return value
}

function beforeAbort<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    const settled = Promise.resolve(answer).then(resolve, reject)
    if (signal.aborted) return abort() // while the port was called: it will not tell again

    signal.addEventListener('abort', abort, { once: true })
    settled.finally(() => signal.removeEventListener('abort', abort))
  })
}

/** What a store is told about the call. */
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
