import type { Action } from './access.ts'
import { need } from './arguments.ts'
import type { HostThing, PinKind, SigningKeyFormat } from './records.ts'

/**
 * One violation of an input: a JSON pointer (RFC 6901) to the invalid value, a code, and a message for people, which
 * does not contain the pointer. A violation in a document that was read from bytes also has a place: that of the value,
 * or of the first byte that cannot be read.
 */
export interface Violation {
  readonly pointer: string
  readonly code: string
  readonly message: string
  /** The number of bytes before the place. Of a compressed document: after decompression. */
  readonly offset?: number | undefined
  /** The line of the place. The first line is 1. */
  readonly line?: number | undefined
  /** The name of the file, if the source has several. */
  readonly file?: string | undefined
}

/**
 * Maps each error code to its details. Minor versions may add codes, so a `switch` over them needs a `default`.
 * The codes ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED, BODY_TOO_LARGE, CROSS_SITE, EXCHANGE_BUSY and
 * INTERNAL occur only in HTTP responses.
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
  EVENTS_PRUNED: { readonly oldest: string }
  /** `violations` are the first 100 of `total`. */
  INVALID_DOCUMENT: { readonly violations: readonly Violation[]; readonly total: number }
  /**
   * `reason` 'differs': an issue of this number exists and is not the same; `property` is the first one that differs.
   * 'taken': a pull request or a deleted issue has the number. `pointer`, `offset`, `line` and `file` are those of the
   * record that was imported, as in a violation.
   */
  IMPORT_CONFLICT: Omit<Violation, 'code' | 'message'> & {
    readonly number: number
    readonly reason: 'differs' | 'taken'
    readonly property?: string | undefined
  }
  /** `retry` 'call': the same call can be retried; 'host-transaction': the host must run its own transaction again. */
  STORAGE_BUSY: { readonly retry: 'call' | 'host-transaction' }
  /**
   * `outcome` 'unknown': the change may or may not have been committed, because the connection was lost during the
   * commit or the host's code ended the transaction.
   * `closed` true: the forge, its storage, or the underlying handle or pool was closed, and every later call fails too.
   */
  STORAGE_UNAVAILABLE: { readonly outcome: 'nothing-done' | 'unknown'; readonly closed?: boolean | undefined }
  SCHEMA_OUTDATED: { readonly found: number; readonly needed: number }
  /** A name that the tables need is taken by another table, view or index. */
  SCHEMA_CONFLICT: { readonly name: string }
  SCHEMA_TOO_NEW: { readonly found: number; readonly oldestLibrary: number }
}

/** The codes of a `ForgeError`. */
export type ForgeErrorCode = keyof ForgeErrorDetails

/** Codes that only HTTP responses have: no service throws them. */
export type WireCode =
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_TOO_LARGE'
  | 'CROSS_SITE'
  | 'EXCHANGE_BUSY'
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
