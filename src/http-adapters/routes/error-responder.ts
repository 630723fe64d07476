import type { Logger } from '../../core/ports.ts'
import type { ForgeError } from '../../schema/errors.ts'
import { isForgeError } from '../../schema/errors.ts'
import type { ErrorCode, WireError } from './error-status.ts'
import { errorStatus, isWireError } from './error-status.ts'
import type { ApiRequest, HeaderLine, TextResponse } from './messages.ts'
import type { ErrorReplyOptions } from './reply.ts'
import { errorReply } from './reply.ts'
import type { CredentialKind } from './request-context.ts'

/** How errors are logged and presented. */
export interface FailureOptions {
  /** Never throws. */
  readonly logger: Logger
  readonly newId: () => string
  /** The address of the API's documentation; `""` if unknown. */
  readonly docsUrl: string
  /** Default: `'token'`. */
  readonly credentials?: CredentialKind | undefined
}

/** The failed request, for the log. */
export interface Failed {
  readonly request: ApiRequest
  /** Undefined if the request failed before a route was found, or while the response was written. */
  readonly operationId?: string | undefined
}

/** The message of a 401 response: Gitea's texts where callers send tokens. */
const UNAUTHENTICATED: Readonly<Record<CredentialKind, string>> = {
  token: 'token is required',
  session: 'authentication is required',
}
const INVALID_CREDENTIALS: Readonly<Record<CredentialKind, string>> = {
  token: 'invalid username, password or token',
  session: 'invalid credentials',
}

/**
 * Builds the response to any thrown value. An unexpected error becomes a bare 500 with a `requestId`; its cause is
 * written only to the log. Source: docs/behaviour.md, Everywhere
 */
export class ErrorResponder {
  readonly #logger: Logger
  readonly #newId: () => string
  readonly #docsUrl: string
  readonly #credentials: CredentialKind

  constructor({ logger, newId, docsUrl, credentials = 'token' }: FailureOptions) {
    this.#logger = logger
    this.#newId = newId
    this.#docsUrl = docsUrl
    this.#credentials = credentials
  }

  /** Never throws: an error that cannot be inspected or written as JSON counts as unexpected. */
  reply(error: unknown, failed: Failed): TextResponse {
    try {
      return this.#known(error, failed)
    } catch {
      return this.#internal(error, failed)
    }
  }

  #known(error: unknown, failed: Failed): TextResponse {
    if (isWireError(error) && Object.hasOwn(errorStatus, error.code)) return this.#wireError(error)
    if (isForgeError(error) && Object.hasOwn(errorStatus, error.code)) return this.#forgeError(error, failed)
    return this.#internal(error, failed)
  }

  #wireError({ code, message }: WireError): TextResponse {
    return this.#reply(code, message, code === 'EXCHANGE_BUSY' ? { headers: [['Retry-After', '5']] } : {})
  }

  #forgeError(error: ForgeError, failed: Failed): TextResponse {
    switch (error.code) {
      case 'UNAUTHENTICATED':
        return this.#reply(error.code, UNAUTHENTICATED[this.#credentials], challenge('Bearer'))
      case 'INVALID_CREDENTIALS':
        return this.#reply(
          error.code,
          INVALID_CREDENTIALS[this.#credentials],
          challenge('Bearer error="invalid_token"'),
        )
      case 'INVALID_INPUT':
        return this.#reply(error.code, error.message, { violations: error.details.violations })
      case 'INVALID_DOCUMENT':
        return this.#reply(error.code, error.message, {
          violations: error.details.violations,
          total: error.details.total,
        })
      case 'IMPORT_CONFLICT':
        return this.#conflict(error)
      case 'STORAGE_BUSY':
        return this.#busy(error, failed)
      case 'STORAGE_UNAVAILABLE':
      case 'SCHEMA_OUTDATED':
      case 'SCHEMA_TOO_NEW':
        return this.#unavailable(error, failed)
      case 'SIGNING_KEY_UNREADABLE':
        return this.#internal(error, failed)
      default:
        return this.#reply(error.code, error.message)
    }
  }

  /** The options of the service are parameters of the query here. */
  #conflict({ code, message, details }: ForgeError<'IMPORT_CONFLICT'>): TextResponse {
    const { number, reason, property, ...place } = details
    const shown =
      reason === 'taken'
        ? message
        : `issue ${number} exists and differs in ${property}: import with on_conflict=skip or on_conflict=update`
    return this.#reply(code, shown, { violations: [{ ...place, code: reason, message: shown }] })
  }

  #busy(error: ForgeError, failed: Failed): TextResponse {
    const requestId = this.#log('warn', 'database busy', error, failed)
    return this.#reply(error.code, 'the database is busy, try again', { requestId, headers: [['Retry-After', '1']] })
  }

  #unavailable(error: ForgeError, failed: Failed): TextResponse {
    const requestId = this.#log('error', 'database not available', error, failed)
    return this.#reply(error.code, 'the database is not available', { requestId, headers: [['Retry-After', '5']] })
  }

  #internal(error: unknown, failed: Failed): TextResponse {
    const requestId = this.#log('error', 'request failed', error, failed)
    return this.#reply('INTERNAL', 'internal error', { requestId })
  }

  #reply(code: ErrorCode, message: string, more: Omit<ErrorReplyOptions, 'docsUrl'> = {}): TextResponse {
    return errorReply(code, message, { docsUrl: this.#docsUrl, ...more })
  }

  #log(level: keyof Logger, message: string, error: unknown, { request, operationId }: Failed): string | undefined {
    if (isAbort(error, request.signal)) return undefined // the client has disconnected, and no error occurred

    const requestId = this.#makeId()
    this.#logger[level](message, { requestId, operationId, method: request.method, error })
    return requestId
  }

  #makeId(): string {
    try {
      const id: unknown = this.#newId()
      if (typeof id === 'string' && id !== '') return id
    } catch {
      // A random id is used instead.
    }
    return crypto.randomUUID()
  }
}

function challenge(value: string): Pick<ErrorReplyOptions, 'headers'> {
  const header: HeaderLine = ['WWW-Authenticate', value]
  return { headers: [header] }
}

function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted !== true) return false
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}
