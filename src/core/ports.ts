import type { Id, IdInput } from '../schema/ids.ts'
import type { AccessDecision, AccessRequest, PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'

export type { HostIssue, HostPorts, HostUser } from '../storage/contract/host.ts'

/** The host's signed-in user. The forge reads only `id`; the host may add other properties. */
export interface Actor {
  readonly id: IdInput
}

/**
 * Who makes a call: a signed-in user, 'anonymous' (not signed in), or 'system' (the host's own code, such as jobs and
 * hooks). For 'system' the policy is not asked, and events have no actor.
 */
export type Caller<A extends Actor> = A | 'anonymous' | 'system'

/** Options of every service call. */
export interface CallOptions {
  /** Cancels the call: it rejects with `signal.reason`, and changes that were not yet committed are not written. */
  readonly signal?: AbortSignal | undefined
}

/** The last argument of every port. */
export interface PortContext<Who, Tx> {
  /** Who made the call. */
  readonly actor: Who
  /**
   * The host's open transaction, if the call runs inside one. Read through it: other connections do not see its rows.
   */
  readonly transaction: Tx | undefined
  /**
   * The caller's signal. For an HTTP request it is created on first access. It is a getter of the class, so a copy such
   * as `{ ...context }` does not have it.
   */
  readonly signal?: AbortSignal | undefined
  /**
   * What `directory.findRepository` returned for the repository in the path of an HTTP request: a policy may use what it has
   * beside the id. Undefined elsewhere.
   */
  readonly repository?: object | undefined
}

/**
 * Port: decides whether an actor may perform an action. A decision holds as of the start of a call. It is asked once in
 * each call that takes a caller, before the storage is used, and once in each request of the HTTP API, as soon as the
 * repository or the organization is found; never for 'system', and not for the signing key of the instance. It is asked a
 * second time by an import with `attribution: 'accounts'`, for `issues.attribute`, and by `blocks.block` when the host
 * reported a new member in between. Inside `withTransaction` and `withTransactionSync`
 * it is asked in the host's transaction (`context.transaction`), otherwise outside of any.
 */
export interface Policy<A extends Actor, Tx = unknown> {
  /** Decides whether `context.actor` may perform the request. */
  authorize(request: AccessRequest, context: PortContext<A | 'anonymous', Tx>): MaybePromise<AccessDecision>
}

/** Port: reports whether a user is a member of an organization. Members cannot be blocked. */
export interface Membership<A extends Actor, Tx = unknown> {
  /**
   * Returns whether the user is a member now. Called once in each `blocks.block` of another user, after the policy and before
   * the change, and again whenever the host reported a new member in between. Inside `withTransaction` and
   * `withTransactionSync` it is called in the host's transaction (`context.transaction`), otherwise outside of any, where
   * the forge holds no lock.
   */
  isMember(
    member: { readonly organizationId: Id; readonly userId: Id },
    context: PortContext<Caller<A>, Tx>,
  ): MaybePromise<boolean>
}

/** What a signing key source may use to find out which key there is now. */
export interface SigningKeyContext extends CallOptions {
  /** The format that the caller asks for. Default: that of the source. */
  readonly format?: SigningKeyFormat | undefined
  /** Receives what is wrong with a source that can still serve a key. */
  readonly logger?: Logger | undefined
  /** False where a call may not wait, inside `withTransactionSync`: the source takes the key that it knows. */
  readonly mayWait?: boolean | undefined
}

/** Port: the instance's signing key. `format` is available without reading the key. */
export interface SigningKeySource {
  readonly format: SigningKeyFormat
  /**
   * Whether `publicKey` is also called for the other format, because there may be a key of it, now or later. If there is none,
   * the source returns a key of its own `format`, or throws `SIGNING_KEY_FORMAT_MISMATCH`.
   */
  readonly servesBoth?: boolean
  /**
   * Returns the public key. Called once in each call and request for a key of this `format`, after the policy. It takes no part
   * in a transaction.
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the key cannot be read or parsed; the message never contains key
   * material
   */
  publicKey(context?: SigningKeyContext): MaybePromise<PublicKey>
}

/**
 * Port: receives warnings and unexpected failures. `console` is a valid logger. Called when the failure is noticed,
 * outside of any transaction of its own. What it throws is ignored.
 */
export interface Logger {
  /** Logs an unexpected failure, or one that only the operator can fix. */
  error(message: string, fields: object): void
  /** Logs a problem from which the library recovered. */
  warn(message: string, fields: object): void
}
