import type { Violation } from '../../schema/errors.ts'
import type { ErrorCode } from './error-status.ts'
import type { JsonSchema } from './json-schema.ts'
import { listOf } from './json-schema.ts'

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

/** The schema of every error body. Each operation's responses list the codes that it can have. */
export const errorSchema: JsonSchema = {
  type: 'object',
  description: 'The body of every error.',
  required: ['message', 'url', 'code'] satisfies (keyof ErrorJson)[],
  additionalProperties: false,
  properties: {
    message: { type: 'string', description: 'description of the error for people' },
    url: { type: 'string', description: 'URL of the API documentation; empty if unknown' },
    code: { type: 'string', description: 'code of the error for programs' },
    violations: { ...listOf('Violation'), description: 'the violations of the input, one by one' },
    total: {
      type: 'integer',
      description: 'of a document: the number of violations, of which the first 100 are listed',
    },
    requestId: { type: 'string', description: 'identifies the entry in the log of the server' },
  } satisfies Record<keyof ErrorJson, JsonSchema>,
}

/** The schema of one violation. */
export const violationSchema: JsonSchema = {
  type: 'object',
  description: 'One violation of an input.',
  required: ['pointer', 'code', 'message'] satisfies (keyof Violation)[],
  additionalProperties: false,
  properties: {
    pointer: { type: 'string', description: 'JSON Pointer (RFC 6901); empty for the whole body' },
    code: { type: 'string', description: 'the kind: `required`, `type`, `range`, `too_long` …' },
    message: { type: 'string', description: 'what was expected' },
    offset: { type: 'integer', description: 'bytes before the place, in a document' },
    line: { type: 'integer', description: 'line of the place, in a document; the first is 1' },
    file: { type: 'string', description: 'name of the file, if the document has several' },
  } satisfies Record<keyof Violation, JsonSchema>,
}

/** Builds the body of an error. */
export function errorJson(code: ErrorCode, message: string, url: string, more: ErrorMore = {}): ErrorJson {
  return { message, url, code, ...more }
}

/** Fields that some errors have besides their code and message. */
export type ErrorMore = Pick<ErrorJson, 'violations' | 'total' | 'requestId'>
