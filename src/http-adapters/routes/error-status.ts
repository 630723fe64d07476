import { need } from '../../schema/arguments.ts'
import type { ErrorCode, WireCode } from '../../schema/errors.ts'

export type { ErrorCode, WireCode } from '../../schema/errors.ts'

/**
 * The HTTP status of each error code. A new code does not compile until it has a status here.
 * Source: docs/behaviour.md, Over HTTP. `SCHEMA_*` are 503: the database cannot be used until it is migrated or the
 * deployment is complete.
 */
export const errorStatus: Readonly<Record<ErrorCode, number>> = {
  UNAUTHENTICATED: 401,
  INVALID_CREDENTIALS: 401,
  FORBIDDEN: 403,
  USER_NOT_FOUND: 404,
  ORGANIZATION_NOT_FOUND: 404,
  REPOSITORY_NOT_FOUND: 404,
  ISSUE_NOT_FOUND: 404,
  INVALID_INPUT: 422,
  PIN_LIMIT_REACHED: 400,
  ISSUE_NOT_PINNED: 404,
  CANNOT_BLOCK_SELF: 422,
  CANNOT_BLOCK_MEMBER: 422,
  CANNOT_BLOCK_ORGANIZATION: 422,
  ALREADY_BLOCKED: 422,
  NOT_BLOCKED: 422,
  BLOCKED: 403,
  UNKNOWN_BADGE: 422,
  BADGE_NOT_FOUND: 404,
  BADGE_EXISTS: 409,
  BADGE_IN_USE: 409,
  NO_SIGNING_KEY: 404,
  SIGNING_KEY_FORMAT_MISMATCH: 404,
  SIGNING_KEY_UNREADABLE: 500,
  EVENTS_PRUNED: 410,
  CURSOR_AHEAD: 410,
  INVALID_DOCUMENT: 422,
  IMPORT_CONFLICT: 409,
  STORAGE_BUSY: 503,
  STORAGE_UNAVAILABLE: 503,
  SCHEMA_OUTDATED: 503,
  SCHEMA_TOO_NEW: 503,
  SCHEMA_CONFLICT: 503,
  COPY_REFUSED: 409,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  BODY_TOO_LARGE: 413,
  CROSS_SITE: 403,
  SUDO_UNSUPPORTED: 403,
  EXCHANGE_BUSY: 503,
  INTERNAL: 500,
}

/**
 * Returns the HTTP status of an error code, so that a host's own routes respond like those of the API.
 * Source: docs/behaviour.md, Over HTTP
 *
 * @throws TypeError if no error has this code
 */
export function statusOf(code: ErrorCode): number {
  need(Object.hasOwn(errorStatus, code), 'statusOf', 'code', 'the code of an error, such as USER_NOT_FOUND')
  return errorStatus[code]
}

/**
 * A request that HTTP itself refuses. The error is branded, because an adapter and the routes may come from two copies
 * of the package.
 */
export interface WireError extends Error {
  readonly name: 'WireError'
  readonly code: WireCode
}

const BRAND: unique symbol = Symbol.for('forgelet.wireError')

// Logs show the name of the class.
const WireError = class extends Error {
  override readonly name = 'WireError'
  readonly [BRAND] = true
  readonly code: WireCode

  constructor(code: WireCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Whether a value is a wire error, created by this or another copy of the package. */
export function isWireError(value: unknown): value is WireError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** Creates the error for a request that HTTP itself refuses. */
export function wireError(code: WireCode, message: string): WireError {
  return new WireError(code, message)
}

/** The error for a body that exceeds the limit. Source: docs/behaviour.md, Everywhere */
export function bodyTooLarge(limit: number): WireError {
  return wireError('BODY_TOO_LARGE', `the body must not be longer than ${limit} bytes`)
}
