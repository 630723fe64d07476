import type { ErrorCode } from './error-status.ts'
import { errorStatus } from './error-status.ts'
import type { ReplyHeader } from './reply-headers.ts'
import type { Route } from './route.ts'

/** A code that a route may answer with, and the status it has there. */
export interface RouteError {
  readonly code: ErrorCode
  readonly status: number
}

/** What may befall every route: `authenticate` refuses, something breaks, the database is away. */
const ALWAYS: readonly ErrorCode[] = [
  'INVALID_CREDENTIALS',
  'INTERNAL',
  'STORAGE_BUSY',
  'STORAGE_UNAVAILABLE',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
]

/**
 * Every error that a route may answer with: its own and its inputs', and what any route of its kind may meet on the way.
 * Nothing else decides what a document declares. A port of the host's that throws a `ForgeError` of another code is not in it.
 */
export function routeErrors(route: Route): readonly RouteError[] {
  const inputs = Object.values(route.inputs).flatMap((input) => input.errors)
  const codes = [...new Set([...onTheWay(route), ...inputs, ...route.errors])]
  const errors = codes.map((code) => ({ code, status: errorStatus[code] }))
  return [...errors, ...(route.reply.refusals ?? [])].sort((one, other) => one.status - other.status)
}

/** The headers that errors of a status have, beside those of every reply. */
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
