import type { ForgeErrorCode } from '../../schema/errors.ts'
import type { WireCode } from './wire-error.ts'

/** Every code an error body can have. */
export type ErrorCode = ForgeErrorCode | WireCode

/**
 * Error code to HTTP status: a new code does not compile until somebody decides its status.
 * Source: docs/behaviour.md, Over HTTP. `SCHEMA_*` are 503: the database cannot be used until it is migrated or the
 * deploy is through.
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
  UNKNOWN_BADGE: 422,
  BADGE_NOT_FOUND: 404,
  BADGE_EXISTS: 409,
  BADGE_IN_USE: 409,
  NO_SIGNING_KEY: 404,
  SIGNING_KEY_FORMAT_MISMATCH: 404,
  SIGNING_KEY_UNREADABLE: 500,
  INVALID_DOCUMENT: 422,
  IMPORT_CONFLICT: 409,
  EVENTS_PRUNED: 410,
  STORAGE_BUSY: 503,
  STORAGE_UNAVAILABLE: 503,
  SCHEMA_OUTDATED: 503,
  SCHEMA_TOO_NEW: 503,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  BODY_TOO_LARGE: 413,
  CROSS_SITE: 403,
  INTERNAL: 500,
}
