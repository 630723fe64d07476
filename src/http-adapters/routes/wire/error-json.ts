import type { Violation } from '../../../schema/errors.ts'
import type { ErrorCode } from '../error-status.ts'

/** The body of every error. Source: docs/behaviour.md, Everywhere */
export interface ErrorJson {
  /** For people; never holds SQL, a stack, a token or a file path. */
  readonly message: string
  /** Where the API page is; `""` when unknown. */
  readonly url: string
  readonly code: ErrorCode
  /** What is wrong with the input, place by place. */
  readonly violations?: readonly Violation[] | undefined
  /** Names the entry in the host's log. */
  readonly requestId?: string | undefined
}

/** Makes the body of an error. */
export function errorJson(code: ErrorCode, message: string, more: ErrorMore = {}): ErrorJson {
  return { message, url: '', code, ...more }
}

/** What some errors carry besides their code and message. */
export type ErrorMore = Pick<ErrorJson, 'violations' | 'requestId'>
