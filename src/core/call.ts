import type { Id } from '../schema/ids.ts'
import { toId } from '../schema/ids.ts'
import type { ForgeEvent, PinKind } from '../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { beforeAbort, isPromise, runMaybeAsync, runSync, wait } from '../schema/sync-or-async.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type { BeforeCommit, WriteContext } from '../storage/contract/stores.ts'
import type { IssueTracker } from './exchange/issue-tracker.ts'
import type { Actor, Caller, CallOptions, Logger, Membership, Policy, PortContext, SigningKeySource } from './ports.ts'
import type { KeyExpiry } from './signing-keys/key-expiry.ts'

/** An open transaction of the host. Only the host and its storage know its type. */
export interface OpenTransaction {
  readonly ofTheHost: never
}

/** The host's issues, as the services see them. */
export type Tracker = IssueTracker<Actor, OpenTransaction>

/** The context of a call, as ports receive it. */
export type CallContext = PortContext<Caller<Actor>, OpenTransaction>

/**
 * What the services of one forge depend on: the storage, the host's ports and the settings, with all defaults applied.
 * `createForge` erases the types of the host's actors and transactions: the services treat all of them alike.
 */
export interface Environment {
  readonly storage: ForgeStorage<OpenTransaction>
  readonly policy: Policy<Actor, OpenTransaction>
  /** Undefined if the storage reads the members itself, or there are no blocks. */
  readonly membership: Membership<Actor, OpenTransaction> | undefined
  /** Undefined: the host has no issues to exchange. */
  readonly issues: Tracker | undefined
  readonly signingKey: SigningKeySource | undefined
  readonly keyExpiry: KeyExpiry
  readonly maxPins: { readonly [K in PinKind]: number }
  readonly maxNoteLength: number
  readonly beforeCommit: BeforeCommit<OpenTransaction> | undefined
  /** Never throws. */
  readonly logger: Logger
  /** Returns a text that was never returned before. */
  newId(): string
  now(): Date
}

/** Where calls run: on their own, or inside a transaction of the host. The services are created for one scope. */
export interface Scope {
  readonly environment: Environment
  /** The host's open transaction, if the calls run inside one. */
  readonly transaction: OpenTransaction | undefined
  /** Whether a call may wait for a promise. False inside `withTransactionSync`. */
  readonly mayWait: boolean
  /** Whether the services ask the policy. False for the HTTP routes, which have asked it already. */
  readonly guarded: boolean
  /** The host's function that runs in every change before the commit. */
  readonly beforeCommit: BeforeCommit<OpenTransaction> | undefined
  /** Called with the events of a change after they are written. */
  announce(events: readonly ForgeEvent[]): void
  /** Runs the steps of one call. What it returns is what a service method returns. */
  run<T>(actor: Caller<Actor>, options: CallOptions | undefined, steps: Steps<T>): MaybePromise<T>
}

/** What one call does. */
export type Steps<T> = (call: Call) => SyncOrAsync<T>

/** A scope whose calls return promises. */
export interface AsyncScope extends Scope {
  run<T>(actor: Caller<Actor>, options: CallOptions | undefined, steps: Steps<T>): Promise<T>
}

/** A scope whose calls return values. */
export interface SyncScope extends Scope {
  run<T>(actor: Caller<Actor>, options: CallOptions | undefined, steps: Steps<T>): T
}

/**
 * Services that return values instead of promises, for synchronous SQLite drivers. If a port returns a promise, the
 * call throws a TypeError before it writes anything.
 */
export type Sync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => infer R ? (...args: P) => Awaited<R> : Sync<T[K]>
}

/** Services that return a value when the ports and the storage do, and a promise otherwise. */
export type MaybeAsync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => Promise<infer R>
    ? (...args: P) => MaybePromise<R>
    : T[K] extends (...args: never) => unknown
      ? T[K]
      : MaybeAsync<T[K]>
}

/** One call of a service, as its ports see it: who makes it, and in which transaction. */
export class Call implements CallContext {
  readonly actor: Caller<Actor>
  readonly transaction: OpenTransaction | undefined
  readonly #options: RequestOptions | undefined

  constructor(actor: Caller<Actor>, transaction: OpenTransaction | undefined, options: RequestOptions | undefined) {
    this.actor = actor
    this.transaction = transaction
    this.#options = options
  }

  /** Read when it is needed, because that of an HTTP request is created then. */
  get signal(): AbortSignal | undefined {
    return this.#options?.signal
  }

  get repository(): object | undefined {
    return this.#options?.repository
  }
}

/** The options of a call, to which an HTTP request adds the repository in its path. */
interface RequestOptions extends CallOptions {
  readonly repository?: object | undefined
}

/** Runs steps inside a call, for a storage that calls back. Where the call may not wait, they must not either. */
export function runIn<T>({ mayWait }: { readonly mayWait: boolean }, steps: SyncOrAsync<T>): MaybePromise<T> {
  return mayWait ? runMaybeAsync(steps) : runSync(steps)
}

/** Waits for the answer of a port, but only until the caller's signal aborts. */
export function portAnswer<T>(
  call: { readonly signal?: AbortSignal | undefined },
  answer: MaybePromise<T>,
): SyncOrAsync<T> {
  if (!isPromise(answer)) return wait(answer)

  const { signal } = call
  return signal === undefined ? wait(answer) : untilAbort(signal, answer)
}

function* untilAbort<T>(signal: AbortSignal, answer: Promise<T>): SyncOrAsync<T> {
  const value = yield* wait(beforeAbort(signal, answer))
  signal.throwIfAborted()
  return value
}

/**
 * Returns the caller's id, as stored in events and rows. Null for 'anonymous' and for the host's own code.
 * @throws TypeError when the caller is neither an object with an id, nor 'anonymous', nor 'system'
 */
export function actorIdOf(actor: Caller<Actor>): Id | null {
  if (actor === 'anonymous' || actor === 'system') return null
  if (typeof actor !== 'object' || actor === null || actor.id === undefined) {
    throw new TypeError("an actor must be an object with an id, 'anonymous' or 'system'")
  }
  return toId(actor.id, 'actor.id')
}

/** Creates what every write of a call carries. */
export function writeContext(
  { environment, beforeCommit, transaction }: Scope,
  call: Call,
): WriteContext<OpenTransaction> {
  return { by: { actorId: actorIdOf(call.actor), at: () => environment.now() }, beforeCommit, transaction }
}
