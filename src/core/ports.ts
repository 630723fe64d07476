import type { AccessDecision, AccessRequest } from '../schema/access.ts'
import type { Id, IdInput } from '../schema/ids.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'

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
  readonly transaction?: Tx | undefined
  /**
   * The caller's signal. For an HTTP request it is created on first access. It is a getter of the class, so a copy such
   * as `{ ...context }` does not have it.
   */
  readonly signal?: AbortSignal | undefined
}

/** Port: decides whether an actor may perform an action. A decision holds as of the start of a call. */
export interface Policy<A extends Actor, Tx = unknown> {
  /** Decides whether `context.actor` may perform the request. */
  authorize(request: AccessRequest, context: PortContext<A | 'anonymous', Tx>): MaybePromise<AccessDecision>
}

/** Port: reports whether a user is a member of an organization. Members cannot be blocked. */
export interface Membership<A extends Actor, Tx = unknown> {
  /** Returns whether the user is a member now. Called before a user is blocked. */
  isMember(
    member: { readonly organizationId: Id; readonly userId: Id },
    context: PortContext<Caller<A>, Tx>,
  ): MaybePromise<boolean>
}

/** Port: the instance's signing key. `format` is available without reading the key. */
export interface SigningKeySource {
  readonly format: SigningKeyFormat
  /**
   * Returns the public key.
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the key cannot be read or parsed; the message never contains key
   * material
   */
  publicKey(options?: CallOptions): MaybePromise<PublicKey>
}

/** Port: receives warnings and unexpected failures. `console` is a valid logger. */
export interface Logger {
  /** Logs an unexpected failure, or one that only the operator can fix. */
  error(message: string, fields: object): void
  /** Logs a problem from which the library recovered. */
  warn(message: string, fields: object): void
}
