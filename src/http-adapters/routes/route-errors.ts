import type { ErrorCode } from './error-status.ts'
import { errorStatus } from './error-status.ts'
import type { ReplyHeader } from './reply-headers.ts'
import type { Route } from './route.ts'

/** An error code that a route may answer with, and its status there. */
export interface RouteError {
  readonly code: ErrorCode
  readonly status: number
}

/** The errors of every route: `authenticate` refuses the caller, something fails, the database is unavailable. */
const ALWAYS: readonly ErrorCode[] = [
  'INVALID_CREDENTIALS',
  'INTERNAL',
  'STORAGE_BUSY',
  'STORAGE_UNAVAILABLE',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
]

/**
 * Every error that a route may answer with: its own, those of its inputs, and those that any route of its kind can
 * cause. API documents declare exactly these errors. They do not include other codes of a `ForgeError` that a port of
 * the host throws.
 */
export function routeErrors(route: Route): readonly RouteError[] {
  const inputs = Object.values(route.inputs).flatMap((input) => input.errors)
  const codes = [...new Set([...onTheWay(route), ...inputs, ...route.errors])]
  const errors = codes.map((code) => ({ code, status: errorStatus[code] }))
  return [...errors, ...(route.reply.refusals ?? [])].sort((one, other) => one.status - other.status)
}

/** The headers of errors with a given status, besides those of every response. */
export function errorHeaders(status: number): readonly ReplyHeader[] {
  if (status === 401) return ['WWW-Authenticate']
  return status === 503 ? ['Retry-After'] : []
}

function onTheWay({ inputs, method, path }: Route): readonly ErrorCode[] {
  const asksPolicy = Object.values(inputs).some((input) => input.action !== undefined)
  return [
    ...ALWAYS,
    ...(asksPolicy ? (['UNAUTHENTICATED'] as const) : []),
    ...(method === 'GET' ? [] : (['CROSS_SITE'] as const)),
    ...(path.includes('{') ? (['ROUTE_NOT_FOUND'] as const) : []), // a segment that cannot be decoded
  ]
}
