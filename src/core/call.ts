import type { ForgeEvent } from '../schema/events.ts'
import type { Id } from '../schema/ids.ts'
import { toId } from '../schema/ids.ts'
import type { MaybePromise, Steps } from '../schema/steps.ts'
import { isPromise, wait } from '../schema/steps.ts'
import type { BeforeCommit, WriteContext } from '../storage/contract/aggregate-store.ts'
import type { Environment } from './environment.ts'
import type { Actor, Asker, CallOptions, PortContext } from './ports.ts'

/** One call of a service: who asks, and where it runs. */
export interface Call<A extends Actor, Tx> {
  readonly actor: Asker<A>
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
export type OpenCall<A extends Actor, Tx> = (actor: Asker<A>, options: CallOptions | undefined) => Call<A, Tx>

/** @throws TypeError when it is neither an object with an id, nor 'anonymous', nor 'system' */
export function checkAsker<A extends Actor>(actor: Asker<A>): void {
  if (actor === 'anonymous' || actor === 'system') return
  if (typeof actor !== 'object' || actor === null || actor.id === undefined) {
    throw new TypeError("an actor must be an object with an id, 'anonymous' or 'system'")
  }
}

/** The id that events and rows keep of who asked; null for nobody and for the host's own code. */
export function actorIdOf<A extends Actor>(actor: Asker<A>): Id | null {
  return typeof actor === 'string' ? null : toId(actor.id, 'actor.id')
}

/** What a port is told about the call. */
export function portContext<A extends Actor, Who, Tx>(call: Call<A, Tx>, actor: Who): PortContext<Who, Tx> {
  return { actor, transaction: call.transaction, signal: call.signal }
}

/** Waits for a port's answer, and no longer than the caller does. */
export function* answerOf<A extends Actor, Tx, T>(call: Call<A, Tx>, answer: MaybePromise<T>): Steps<T> {
  const { signal } = call
  const value = yield* wait(signal !== undefined && isPromise(answer) ? beforeAbort(signal, answer) : answer)
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
