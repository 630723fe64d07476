import { need } from './arguments.ts'
import type { Id } from './ids.ts'
import type { Action, HostThing, PinKind, SigningKeyFormat } from './records.ts'
import type { Violation } from './violation.ts'

/**
 * Maps each error code to its details: what causes the error, and what to do. Minor versions may add codes, so a
 * `switch` over them needs a `default`. The codes of `WireCode` occur only in HTTP responses.
 */
export interface ForgeErrorDetails {
  /** An anonymous caller asked for something that the policy allows only to users. To do: sign in, and call again. */
  UNAUTHENTICATED: undefined
  /**
   * The request has a credential, and the host's `authenticate` does not accept it. To do: send a valid credential, or
   * none to call as an anonymous caller.
   */
  INVALID_CREDENTIALS: undefined
  /**
   * The policy refused the action; `reason` is what it gave as the reason. To do: have the host give the caller the role
   * that the action needs.
   */
  FORBIDDEN: { readonly action: Action; readonly reason: string }
  /**
   * There is no such user, the user was reported as deleted, or the policy conceals the user. To do: correct the name. An
   * id that was reported as deleted is never accepted again: give a new user a new id.
   */
  USER_NOT_FOUND: undefined
  /**
   * There is no such organization, it was reported as deleted, or the policy conceals it. To do: correct the name, or sign
   * in as a user who may see it.
   */
  ORGANIZATION_NOT_FOUND: undefined
  /**
   * There is no such repository, it was reported as deleted, or the policy conceals it. To do: correct the owner and the
   * name, or sign in as a user who may see it.
   */
  REPOSITORY_NOT_FOUND: undefined
  /**
   * The repository has no issue or pull request of this number, or the issue was reported as deleted. To do: correct the
   * number. An issue that was reported as deleted can never be pinned again.
   */
  ISSUE_NOT_FOUND: undefined
  /**
   * The input is malformed or out of its range; `violations` names each mistake. To do: correct what they point to, and
   * call again.
   */
  INVALID_INPUT: { readonly violations: readonly Violation[] }
  /**
   * The board of this `kind` has `limit` pins already. To do: unpin one, or raise `limits.maxPins` of `createForge`.
   */
  PIN_LIMIT_REACHED: { readonly kind: PinKind; readonly limit: number }
  /** An issue that is not pinned cannot be moved. To do: pin it first. */
  ISSUE_NOT_PINNED: undefined
  /** The caller, or the user who blocks, is the user to block. To do: name another user. */
  CANNOT_BLOCK_SELF: undefined
  /** The user is a member of the organization. To do: end the membership in the host, then block the user. */
  CANNOT_BLOCK_MEMBER: undefined
  /** The account is an organization, which cannot be blocked or unblocked. To do: name a user. */
  CANNOT_BLOCK_ORGANIZATION: undefined
  /**
   * The organization or user already blocks the user. `lifecycle.memberAdded` throws it too: a blocked user cannot become a member.
   * To do: nothing, or unblock the user to change the note or to add the member.
   */
  ALREADY_BLOCKED: undefined
  /**
   * The organization or user does not block the user, so there is nothing to unblock. Over HTTP it is also the answer "no" to the
   * question whether a user is blocked, with the status 404. To do: nothing.
   */
  NOT_BLOCKED: undefined
  /**
   * `blocks.refuseBlocked`: the user may not act here, because `organizationId` or `blockerId` blocks the user, or both do.
   * To do: nothing, or have them unblock the user.
   */
  BLOCKED: { readonly organizationId?: Id | undefined; readonly blockerId?: Id | undefined }
  /**
   * No badge of the catalogue has one of the `slugs`, and nothing was changed. To do: correct the slugs, which are compared
   * exactly, or define the badges with `badges.catalogue.define`.
   */
  UNKNOWN_BADGE: { readonly slugs: readonly string[] }
  /** The catalogue has no badge of this slug. To do: correct it (slugs are compared exactly), or define the badge. */
  BADGE_NOT_FOUND: { readonly slug: string }
  /** The catalogue has a badge of this slug. To do: change it with `badges.catalogue.update`, or choose another slug. */
  BADGE_EXISTS: { readonly slug: string }
  /**
   * The badge cannot be removed while users hold it; `holders` is how many. To do: revoke it from them first.
   */
  BADGE_IN_USE: { readonly slug: string; readonly holders: number }
  /** The instance has no signing key. To do: give `createForge` the option `signingKey`, such as `openKeyFile(path)`. */
  NO_SIGNING_KEY: undefined
  /**
   * The signing key has the other format, which is `format`. To do: ask for that one: `signing-key.gpg` for OpenPGP,
   * `signing-key.pub` for SSH.
   */
  SIGNING_KEY_FORMAT_MISMATCH: { readonly format: SigningKeyFormat }
  /**
   * The signing key cannot be read or parsed. Over HTTP it is `INTERNAL`. To do: read the host's log, which has the cause,
   * and repair the key file.
   */
  SIGNING_KEY_UNREADABLE: undefined
  /**
   * Events after the cursor have been pruned. To do: obtain the current state by other means, then continue from the cursor
   * `oldest`.
   */
  EVENTS_PRUNED: { readonly oldest: string }
  /**
   * The cursor is beyond the last event, whose cursor is `newest`: the database was restored from an older state, or is a
   * replica that was behind. Events that the reader has seen are gone, and other events get their ids. To do: continue from
   * `newest`, and then obtain the current state by other means.
   */
  CURSOR_AHEAD: { readonly newest: string }
  /**
   * A document has records that cannot be imported; `violations` are the first 100 of `total`. To do: correct the document
   * at the positions that they name. `forgelet issues validate` finds them without an import.
   */
  INVALID_DOCUMENT: { readonly violations: readonly Violation[]; readonly total: number }
  /**
   * `reason` 'differs': an issue of this number exists and is not the same; `property` is the first one that differs.
   * 'taken': a pull request or a deleted issue has the number. `pointer`, `offset`, `line` and `file` are those of the
   * record that was imported, as in a violation. To do: import again with `onConflict` 'skip' or 'update'; a number that
   * is 'taken' stays taken, so give the issue of the document another number.
   */
  IMPORT_CONFLICT: Omit<Violation, 'code' | 'message'> & {
    readonly number: number
    readonly reason: 'differs' | 'taken'
    readonly property?: string | undefined
  }
  /**
   * Others held the locks for too long, or the database ended the transaction in favour of another one. Nothing was
   * changed. To do: `retry` 'call': repeat the call; 'host-transaction': roll back, and run the whole transaction of the
   * host again.
   */
  STORAGE_BUSY: { readonly retry: 'call' | 'host-transaction' }
  /**
   * The database cannot be reached or used.
   * `outcome` 'unknown': the change may or may not have been committed, because the connection was lost during the
   * commit or the host's code ended the transaction.
   * `closed` true: the forge, its storage, or the underlying handle or pool was closed, and every later call fails too.
   * To do: restore the database, and repeat the call; after 'unknown', look first whether the change is there.
   */
  STORAGE_UNAVAILABLE: { readonly outcome: 'nothing-done' | 'unknown'; readonly closed?: boolean | undefined }
  /**
   * The tables are missing, or older than this library: `found` is their version, 0 without tables, and `needed` that of
   * the library. To do: `await storage.migrate()`, or `forgelet schema apply`.
   */
  SCHEMA_OUTDATED: { readonly found: number; readonly needed: number }
  /**
   * A name that the tables need is taken by another table, view or index; nothing was changed. To do: choose another
   * `prefix`.
   */
  SCHEMA_CONFLICT: { readonly name: string }
  /**
   * A newer library has migrated the tables, in a way that this one does not understand. To do: install a newer library:
   * its schema version must be `oldestLibrary` at least.
   */
  SCHEMA_TOO_NEW: { readonly found: number; readonly oldestLibrary: number }
  /**
   * `copyForge` does not copy, or what it has copied cannot be used. `reason` 'not-empty': there is something in the tables of
   * the target. 'source-changed': the source did not stand still. 'target-differs': the target does not have what was copied,
   * or it refers to rows of the host that are not there. To do: name an empty target; stop what writes to the source or to the
   * target, copy the tables of the host first, and copy again with `empty: true`.
   */
  COPY_REFUSED: { readonly reason: 'not-empty' | 'source-changed' | 'target-differs' }
}

/** The codes of a `ForgeError`. */
export type ForgeErrorCode = keyof ForgeErrorDetails

/** Codes that only HTTP responses have: no service throws them. */
export type WireCode =
  /** The API has no such path, and nothing behind it answers; or the path cannot be decoded. To do: correct the path. */
  | 'ROUTE_NOT_FOUND'
  /** The path does not have this method. To do: use one of those in the header `Allow`. */
  | 'METHOD_NOT_ALLOWED'
  /**
   * The body is larger than the API accepts. To do: send less, or raise `limits.maxBodyBytes` of `createApi`, of an import
   * `limits.maxImportBytes`.
   */
  | 'BODY_TOO_LARGE'
  /**
   * A browser sent an unsafe request for a page of another site. To do: send an `Authorization` header of the scheme
   * `Bearer` or `token`, or mount the API with `crossSite: 'allow'`.
   */
  | 'CROSS_SITE'
  /**
   * The request has a header `Sudo` or a parameter `sudo`, with which Gitea acts for another user. To do: leave them out, and
   * send a token of that user.
   */
  | 'SUDO_UNSUPPORTED'
  /**
   * As many exports or imports are running as the API allows. To do: repeat the request after the seconds of `Retry-After`,
   * or raise `limits.maxExports` or `limits.maxImports` of `createApi`.
   */
  | 'EXCHANGE_BUSY'
  /** An unexpected failure. To do: find the entry with this `requestId` in the host's log, which has the cause. */
  | 'INTERNAL'

/** Every code that an error body can have. */
export type ErrorCode = ForgeErrorCode | WireCode

/** A `ForgeError` with one code. */
export interface ForgeErrorOf<C extends ForgeErrorCode> extends Error {
  readonly name: 'ForgeError'
  readonly code: C
  readonly details: ForgeErrorDetails[C]
}

/**
 * The error of a call that was refused or failed for a reason other than misuse of the API. It is a union over the
 * codes, so that `switch (error.code)` narrows `error.details`.
 */
export type ForgeError<C extends ForgeErrorCode = ForgeErrorCode> = C extends ForgeErrorCode ? ForgeErrorOf<C> : never

/** The arguments of the constructor after the message. Details are required for the codes that have details. */
export type ForgeErrorRest<C extends ForgeErrorCode> = undefined extends ForgeErrorDetails[C]
  ? [details?: undefined, options?: ErrorOptions]
  : [details: ForgeErrorDetails[C], options?: ErrorOptions]

/** The constructor of forge errors. `instanceof` checks a brand, so it works across copies of the package. */
export interface ForgeErrorConstructor {
  new <C extends ForgeErrorCode>(code: C, message: string, ...rest: ForgeErrorRest<C>): ForgeError<C>
  /** Returns whether a value is a forge error of this or another copy of the package. */
  [Symbol.hasInstance](value: unknown): value is ForgeError
}

const BRAND: unique symbol = Symbol.for('forgelet.error')

/** The one error class of forgelet. Misuse of the API is a `TypeError` instead; an abort rethrows `signal.reason`. */
// The class expression is anonymous, because the bundler would rename an inner `ForgeError` and logs show the class
// name.
// biome-ignore-start lint/nursery/noUnsafeTypeAssertion: the public type pairs each code with its details; the class does not
export const ForgeError: ForgeErrorConstructor = class extends Error {
  override readonly name = 'ForgeError'
  readonly [BRAND] = true
  readonly code: ForgeErrorCode
  readonly details: ForgeErrorDetails[ForgeErrorCode]

  constructor(
    code: ForgeErrorCode,
    message: string,
    details?: ForgeErrorDetails[ForgeErrorCode],
    options?: ErrorOptions,
  ) {
    need(typeof code === 'string', 'ForgeError', 'code', "a string such as 'NOT_BLOCKED'")
    need(typeof message === 'string', 'ForgeError', 'message', 'a string')
    super(message, options)
    this.code = code
    this.details = details
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }
} as unknown as ForgeErrorConstructor
// biome-ignore-end lint/nursery/noUnsafeTypeAssertion: of the class

/** Returns whether a value is a forge error of this or another copy of the package. */
export function isForgeError(value: unknown): value is ForgeError
/** Returns whether a value is a forge error with this code, of this or another copy of the package. */
export function isForgeError<C extends ForgeErrorCode>(value: unknown, code: C): value is ForgeError<C>
export function isForgeError(value: unknown, code?: ForgeErrorCode): boolean {
  return value instanceof ForgeError && (code === undefined || value.code === code)
}

/** Creates the error for a call after a close. */
export function closedError(message: string, cause?: unknown): ForgeError<'STORAGE_UNAVAILABLE'> {
  const details = { outcome: 'nothing-done', closed: true } as const
  return new ForgeError('STORAGE_UNAVAILABLE', message, details, { cause })
}

/** Creates the error for a string that is not a cursor of a list. */
export function invalidCursor(): ForgeError<'INVALID_INPUT'> {
  return invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}

/** Creates the error for a cursor of the outbox behind which events were pruned. */
export function eventsPruned(oldest: string): ForgeError<'EVENTS_PRUNED'> {
  const message = 'events after this cursor have been pruned: continue from the cursor in details.oldest'
  return new ForgeError('EVENTS_PRUNED', message, { oldest })
}

/** Creates the error for a cursor of the outbox that is beyond the newest one. */
export function cursorAhead(newest: string): ForgeError<'CURSOR_AHEAD'> {
  const message = 'the cursor is beyond the last event, as after a restore: continue from the cursor in details.newest'
  return new ForgeError('CURSOR_AHEAD', message, { newest })
}

/** Creates the error for a signing key of the other format than the one that was asked for. */
export function otherFormat(format: SigningKeyFormat): ForgeError<'SIGNING_KEY_FORMAT_MISMATCH'> {
  return new ForgeError('SIGNING_KEY_FORMAT_MISMATCH', `signing key format is ${format}`, { format })
}

const NOT_FOUND: Readonly<Record<HostThing, `${Uppercase<HostThing>}_NOT_FOUND`>> = {
  user: 'USER_NOT_FOUND',
  organization: 'ORGANIZATION_NOT_FOUND',
  repository: 'REPOSITORY_NOT_FOUND',
  issue: 'ISSUE_NOT_FOUND',
}

/** Creates the error for an object of the host that does not exist, is retired, or is concealed. */
export function notFound(thing: HostThing): ForgeError {
  return new ForgeError(NOT_FOUND[thing], `${thing} not found`)
}

/** Creates the error for one invalid input. `pointer` is its JSON pointer. */
export function invalidInput(pointer: string, code: string, message: string): ForgeError<'INVALID_INPUT'> {
  return new ForgeError('INVALID_INPUT', message, { violations: [{ pointer, code, message }] })
}
