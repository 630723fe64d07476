import type { Logger } from '../../core/ports.ts'
import { propertyOf } from '../../schema/arguments.ts'
import type { ForgeError } from '../../schema/errors.ts'
import { isForgeError } from '../../schema/errors.ts'
import type { Violation } from '../../schema/violation.ts'
import type { ErrorCode } from './error-status.ts'
import { errorStatus, isWireError } from './error-status.ts'
import type { ApiRequest, HeaderLine, TextResponse } from './messages.ts'
import { jsonReply } from './replies.ts'
import type { CredentialKind, Settings } from './settings.ts'

/** The body of every error. Source: docs/behaviour.md, Everywhere */
export interface ErrorJson {
  /** For people. It never contains SQL, a stack trace, a token or a file path. */
  readonly message: string
  /** The address of the API's documentation; `""` if unknown. */
  readonly url: string
  readonly code: ErrorCode
  /** Every violation of the input's rules, each with its position. */
  readonly violations?: readonly Violation[] | undefined
  /** How many violations a document has: `violations` are the first 100 of them. */
  readonly total?: number | undefined
  /** Identifies the entry in the host's log. */
  readonly requestId?: string | undefined
}

/** What some error responses have besides their code and message. */
interface More extends Pick<ErrorJson, 'violations' | 'total' | 'requestId'> {
  /** Default: the status of the code. */
  readonly status?: number | undefined
  readonly headers?: readonly HeaderLine[] | undefined
}

/** An error response with a JSON body. */
export function errorReply(
  { docsUrl }: Settings,
  code: ErrorCode,
  message: string,
  { status = errorStatus[code], headers, ...more }: More = {},
): TextResponse {
  const url = docsUrl.endsWith('#') ? docsUrl + code.toLowerCase() : docsUrl
  const body: ErrorJson = { message, url, code, ...more }
  return jsonReply(body, headers, status)
}

/** The failed request, for the log. */
interface Failed {
  readonly request: ApiRequest
  /** Undefined if the request failed before a route was found, or while the response was written. */
  readonly operationId?: string | undefined
}

/**
 * Builds the response to any thrown value. An unexpected error becomes a bare 500 with a `requestId`; its cause is
 * written only to the log. Never throws: an error that cannot be inspected or written as JSON counts as unexpected.
 * Source: docs/behaviour.md, Everywhere
 */
export function failureReply(settings: Settings, error: unknown, failed: Failed): TextResponse {
  try {
    if (isWireError(error) && Object.hasOwn(errorStatus, error.code)) {
      const headers: readonly HeaderLine[] = error.code === 'EXCHANGE_BUSY' ? [['Retry-After', '5']] : []
      return errorReply(settings, error.code, error.message, { headers })
    }
    if (isForgeError(error) && Object.hasOwn(errorStatus, error.code)) return forgeErrorReply(settings, error, failed)
  } catch {
    // The error is hostile: it cannot even be looked at.
  }
  return internalReply(settings, error, failed)
}

/** The messages of a 401 response: Gitea's texts where callers send tokens. */
const REFUSALS = {
  token: { UNAUTHENTICATED: 'token is required', INVALID_CREDENTIALS: 'invalid username, password or token' },
  session: { UNAUTHENTICATED: 'authentication is required', INVALID_CREDENTIALS: 'invalid credentials' },
} as const satisfies Readonly<Record<CredentialKind, object>>

/** The scheme that a 401 response asks for. Nothing asks for a session. */
const CHALLENGES = { UNAUTHENTICATED: 'Bearer', INVALID_CREDENTIALS: 'Bearer error="invalid_token"' } as const

function forgeErrorReply(settings: Settings, error: ForgeError, failed: Failed): TextResponse {
  const { code, message } = error
  const reply = (text: string, more?: More): TextResponse => errorReply(settings, code, text, more)
  switch (error.code) {
    case 'UNAUTHENTICATED':
    case 'INVALID_CREDENTIALS': {
      const { credentials } = settings
      const challenge: HeaderLine = ['WWW-Authenticate', CHALLENGES[error.code]]
      return reply(REFUSALS[credentials][error.code], { headers: credentials === 'token' ? [challenge] : [] })
    }
    case 'INVALID_INPUT':
      return reply(message, { violations: error.details.violations })
    case 'INVALID_DOCUMENT':
      return reply(message, { violations: error.details.violations, total: error.details.total })
    case 'IMPORT_CONFLICT': {
      const { number, reason, property, ...position } = error.details
      // The options of the service are parameters of the query here.
      const choices = 'import with on_conflict=skip or on_conflict=update'
      const text = reason === 'taken' ? message : `issue ${number} exists and differs in ${property}: ${choices}`
      return reply(text, { violations: [{ ...position, code: reason, message: text }] })
    }
    case 'STORAGE_BUSY': {
      const requestId = logged(settings, 'warn', 'database busy', error, failed)
      return reply('the database is busy, try again', { requestId, headers: [['Retry-After', '1']] })
    }
    case 'STORAGE_UNAVAILABLE':
    case 'SCHEMA_OUTDATED':
    case 'SCHEMA_TOO_NEW':
    case 'SCHEMA_CONFLICT': {
      const requestId = logged(settings, 'error', 'database not available', error, failed)
      return reply('the database is not available', { requestId, headers: [['Retry-After', '5']] })
    }
    case 'SIGNING_KEY_UNREADABLE':
      return internalReply(settings, error, failed)
    default:
      return reply(message)
  }
}

function internalReply(settings: Settings, error: unknown, failed: Failed): TextResponse {
  const requestId = logged(settings, 'error', 'request failed', error, failed)
  return errorReply(settings, 'INTERNAL', 'internal error', { requestId })
}

/** Logs an error, unless the client has disconnected and no error occurred. Returns the id of the entry. */
function logged(
  { logger, newId }: Settings,
  level: keyof Logger,
  message: string,
  error: unknown,
  { request, operationId }: Failed,
): string {
  const requestId = validId(newId)
  const fields = { requestId, operationId, method: request.method, error }
  if (!isAbort(error, request.signal)) logger[level](message, fields)
  else if (request.isGone !== true) logger.warn('request aborted by its signal', fields)
  return requestId
}

function validId(newId: () => unknown): string {
  try {
    const id = newId()
    if (typeof id === 'string' && id !== '') return id
  } catch {
    // A random id is used instead.
  }
  return crypto.randomUUID()
}

/** Whether an error is only that the signal of the request has aborted. */
export function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted !== true) return false
  return error === signal.reason || propertyOf(error, 'name') === 'AbortError'
}
