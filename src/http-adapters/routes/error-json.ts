import type { Violation } from '../../schema/errors.ts'
import type { ErrorCode } from './error-status.ts'

/** The body of every error. Source: docs/behaviour.md, Everywhere */
export interface ErrorJson {
  /** For people. It never contains SQL, a stack trace, a token or a file path. */
  readonly message: string
  /** The address of the API's documentation; `""` if unknown. */
  readonly url: string
  readonly code: ErrorCode
  /** Every violation of the input's rules, each with its place. */
  readonly violations?: readonly Violation[] | undefined
  /** How many violations a document has: `violations` are the first 100 of them. */
  readonly total?: number | undefined
  /** Identifies the entry in the host's log. */
  readonly requestId?: string | undefined
}

/** Builds the body of an error. */
export function errorJson(code: ErrorCode, message: string, url: string, more: ErrorMore = {}): ErrorJson {
  return { message, url, code, ...more }
}

/** Fields that some errors have besides their code and message. */
export type ErrorMore = Pick<ErrorJson, 'violations' | 'total' | 'requestId'>
