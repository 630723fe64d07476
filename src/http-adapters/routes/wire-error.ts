import { need } from '../../schema/arguments.ts'

/** Codes that only the wire has: no service throws them. */
export type WireCode = 'ROUTE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'BODY_TOO_LARGE' | 'CROSS_SITE' | 'INTERNAL'

/** A request that HTTP itself refuses. Branded: an adapter and the routes may come from two copies of the package. */
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

/** Whether a value is a wire error, made by this or another copy of the package. */
export function isWireError(value: unknown): value is WireError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** The error for a body that is longer than is taken. Source: docs/behaviour.md, Everywhere */
export function bodyTooLarge(limit: number): WireError {
  need(typeof limit === 'number', 'bodyTooLarge', 'limit', 'a number of bytes')
  return new WireError('BODY_TOO_LARGE', `the body must not be longer than ${limit} bytes`)
}

/** The error for an unsafe request that another site made. Source: docs/behaviour.md, Everywhere */
export function crossSite(): WireError {
  return new WireError(
    'CROSS_SITE',
    'requests from other sites need an Authorization header with the scheme Bearer or token',
  )
}
