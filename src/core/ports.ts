import type { AccessDecision, AccessRequest } from '../schema/access.ts'
import type { Id, IdInput } from '../schema/ids.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'

/** The host's signed-in user, as the host has it; only `id` is ours. */
export interface Actor {
  readonly id: IdInput
}

/** Who asks: a signed-in user, nobody, or the host's own code (jobs, hooks), for which the policy is not asked and the event has no actor. */
export type Caller<A extends Actor> = A | 'anonymous' | 'system'

/** What every service call may carry besides its input. */
export interface CallOptions {
  /** Ends the call early: it rejects with `signal.reason`, and what was not committed is not written. */
  readonly signal?: AbortSignal | undefined
}

/** Last argument of every port. */
export interface PortContext<Who, Tx> {
  /** Who asks. */
  readonly actor: Who
  /** The host's open transaction if we are inside one: read there, or you will not see its rows. */
  readonly transaction?: Tx | undefined
  /** The caller's signal. That of a request is made when it is first read, and a copy, `{ ...context }`, does not have it. */
  readonly signal?: AbortSignal | undefined
}

/** Port: may this actor do this? Answers hold as of the start of a call. */
export interface Policy<A extends Actor, Tx = unknown> {
  /** May `context.actor` do this? */
  authorize(request: AccessRequest, context: PortContext<A | 'anonymous', Tx>): MaybePromise<AccessDecision>
}

/** Port: is this user a member of this organization? Members cannot be blocked. */
export interface Membership<A extends Actor, Tx = unknown> {
  /** Whether the user is a member now; asked before a block. */
  isMember(
    member: { readonly organizationId: Id; readonly userId: Id },
    context: PortContext<Caller<A>, Tx>,
  ): MaybePromise<boolean>
}

/** Port: the instance's signing key. `format` is known without touching the key. */
export interface SigningKeySource {
  readonly format: SigningKeyFormat
  /** @throws ForgeError `SIGNING_KEY_UNREADABLE` when the key cannot be read or parsed; its message never holds key material */
  publicKey(options?: CallOptions): MaybePromise<PublicKey>
}

/** Port: where warnings and unexpected failures go. `console` is one. */
export interface Logger {
  /** Something failed that nobody expected, or that only the operator can mend. */
  error(message: string, fields: object): void
  /** Something is wrong that was got over. */
  warn(message: string, fields: object): void
}
