import type { Action } from './access.ts'
import { need } from './arguments.ts'
import type { PinKind, SigningKeyFormat } from './records.ts'

/** One thing that is wrong with an input: where (a JSON pointer, RFC 6901), what kind, and a text for people without the pointer. */
export interface Violation {
  readonly pointer: string
  readonly code: string
  readonly message: string
}

/**
 * Error code to the details it carries. A new code is a minor version: a host's `switch` keeps a `default`.
 * Only the wire has ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED, BODY_TOO_LARGE, CROSS_SITE and INTERNAL.
 */
export interface ForgeErrorDetails {
  UNAUTHENTICATED: undefined
  INVALID_CREDENTIALS: undefined
  FORBIDDEN: { readonly action: Action; readonly reason: string }
  USER_NOT_FOUND: undefined
  ORGANIZATION_NOT_FOUND: undefined
  REPOSITORY_NOT_FOUND: undefined
  ISSUE_NOT_FOUND: undefined
  INVALID_INPUT: { readonly violations: readonly Violation[] }
  PIN_LIMIT_REACHED: { readonly kind: PinKind; readonly limit: number }
  ISSUE_NOT_PINNED: undefined
  CANNOT_BLOCK_SELF: undefined
  CANNOT_BLOCK_MEMBER: undefined
  CANNOT_BLOCK_ORGANIZATION: undefined
  ALREADY_BLOCKED: undefined
  NOT_BLOCKED: undefined
  UNKNOWN_BADGE: { readonly slugs: readonly string[] }
  BADGE_NOT_FOUND: { readonly slug: string }
  BADGE_EXISTS: { readonly slug: string }
  BADGE_IN_USE: { readonly slug: string; readonly holders: number }
  NO_SIGNING_KEY: undefined
  SIGNING_KEY_FORMAT_MISMATCH: { readonly format: SigningKeyFormat }
  SIGNING_KEY_UNREADABLE: undefined
  INVALID_DOCUMENT: { readonly violations: readonly Violation[] }
  IMPORT_CONFLICT: { readonly pointer: string }
  EVENTS_PRUNED: { readonly floor: string }
  /** `retry`: 'call' = the same call may be tried again; 'host-transaction' = the host must run its own transaction again. */
  STORAGE_BUSY: { readonly retry: 'call' | 'host-transaction' }
  /**
   * `outcome` 'unknown': it cannot be told whether the change was committed: the connection was lost while committing, or a host's code ended the transaction.
   * `closed` true: the forge, its storage, or the handle or pool below it was closed, and every later call fails too.
   */
  STORAGE_UNAVAILABLE: { readonly outcome: 'nothing-done' | 'unknown'; readonly closed?: boolean | undefined }
  SCHEMA_OUTDATED: { readonly found: number; readonly needed: number }
  SCHEMA_TOO_NEW: { readonly found: number; readonly oldestLibrary: number }
}

/** Every code a `ForgeError` can have. */
export type ForgeErrorCode = keyof ForgeErrorDetails

/** A `ForgeError` of one code. */
export interface ForgeErrorOf<C extends ForgeErrorCode> extends Error {
  readonly name: 'ForgeError'
  readonly code: C
  readonly details: ForgeErrorDetails[C]
}

/** A state of the world that refused the call: a union over codes, so that `switch (error.code)` narrows `error.details`. */
export type ForgeError<C extends ForgeErrorCode = ForgeErrorCode> = C extends ForgeErrorCode ? ForgeErrorOf<C> : never

/** What the constructor takes after the message: details only for the codes that carry some. */
export type ForgeErrorRest<C extends ForgeErrorCode> = undefined extends ForgeErrorDetails[C]
  ? [details?: undefined, options?: ErrorOptions]
  : [details: ForgeErrorDetails[C], options?: ErrorOptions]

/** Makes and recognises forge errors; `instanceof` works across two copies of the package, by brand. */
export interface ForgeErrorConstructor {
  new <C extends ForgeErrorCode>(code: C, message: string, ...rest: ForgeErrorRest<C>): ForgeError<C>
  /** Whether a value is a forge error of this or another copy of the package. */
  [Symbol.hasInstance](value: unknown): value is ForgeError
}

const BRAND: unique symbol = Symbol.for('forgelet.error')

/** The one error class of forgelet. Misuse of the API is a `TypeError` instead; an abort rethrows `signal.reason`. */
// Without a name of its own: the bundler would rename an inner `ForgeError`, and logs show the name of the class.
// The cast: it stores any code with any details; only its type, which pairs them, is public.
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
    need(typeof code === 'string', 'ForgeError', 'code', "a text such as 'NOT_BLOCKED'")
    need(typeof message === 'string', 'ForgeError', 'message', 'a text')
    super(message, options)
    this.code = code
    this.details = details
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }
} as unknown as ForgeErrorConstructor

/** Whether a value is a forge error, made by this or another copy of the package. */
export function isForgeError(value: unknown): value is ForgeError
/** Whether a value is a forge error of this code, made by this or another copy of the package. */
export function isForgeError<C extends ForgeErrorCode>(value: unknown, code: C): value is ForgeError<C>
export function isForgeError(value: unknown, code?: ForgeErrorCode): boolean {
  return value instanceof ForgeError && (code === undefined || value.code === code)
}

/** The error for a call that comes after a close. */
export function closedError(message: string, cause?: unknown): ForgeError<'STORAGE_UNAVAILABLE'> {
  const details = { outcome: 'nothing-done', closed: true } as const
  return new ForgeError('STORAGE_UNAVAILABLE', message, details, { cause })
}

/** A thing of the host's that can be missing. */
export type HostThing = 'user' | 'organization' | 'repository' | 'issue'

const NOT_FOUND: Readonly<Record<HostThing, `${Uppercase<HostThing>}_NOT_FOUND`>> = {
  user: 'USER_NOT_FOUND',
  organization: 'ORGANIZATION_NOT_FOUND',
  repository: 'REPOSITORY_NOT_FOUND',
  issue: 'ISSUE_NOT_FOUND',
}

/** The error for a thing of the host's that is not there, is retired, or is concealed. */
export function notFound(thing: HostThing): ForgeError {
  return new ForgeError(NOT_FOUND[thing], `${thing} not found`)
}

/** The error for one input that is wrong, named by its JSON pointer. */
export function invalidInput(pointer: string, code: string, message: string): ForgeError<'INVALID_INPUT'> {
  return new ForgeError('INVALID_INPUT', message, { violations: [{ pointer, code, message }] })
}
