import { ForgeError } from '../../../schema/errors.ts'
import type { Retry } from '../errors.ts'

/** Creates the error for a call that got no connection of the pool, because the pool is too small for its calls. */
export function poolBusy(cause?: unknown): ForgeError<'STORAGE_BUSY'> {
  const message =
    'no connection became free in time: enlarge the pool, and use withTransaction for calls inside a transaction'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' }, { cause })
}

/** Creates the error for a call that got no connection of the pool, for a reason that is not known. */
export function allKept(): ForgeError<'STORAGE_BUSY'> {
  const message = 'the pool provided no connection in time: use withTransaction for calls inside a transaction'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' })
}

/** Creates the error for a call that waited for the few connections which the server accepts. */
export function serverFull(cause: unknown): ForgeError<'STORAGE_BUSY'> {
  const message = 'the server accepts no more connections, and none of those that are open became free in time'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' }, { cause })
}

/** Creates the error for a transaction in which an earlier statement has failed: only its end can run in it. */
export function alreadyFailed(retry: Retry, cause: unknown): ForgeError<'STORAGE_BUSY'> {
  const message = 'an earlier statement of the transaction has failed: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry }, { cause })
}

/** Codes of Node, OpenSSL and mysql2 for failed connections, and what to do about them. */
const REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^ECONNREFUSED$/, 'the server refuses connections: check that it runs, and the host and the port'],
  [/^(ENOTFOUND|EAI_NODATA|EAI_NONAME)$/, 'the host name of the server is unknown'],
  [/^EAI_/, 'the host name of the server could not be looked up'],
  [/^ETIMEDOUT$/, 'the server does not answer in time: check the host, the port and the firewall'],
  [/^(EHOST|ENET)/, 'no network route leads to the server'],
  [/^ENOENT$/, 'the socket file of the server does not exist'],
  [/^(EACCES|EPERM)$/, 'the process may not connect to the server'],
  [/^HANDSHAKE_NO_SSL_SUPPORT$/, 'the server does not support TLS, which the connection asks for'],
  [/CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, 'the TLS certificate of the server is not accepted'],
  [/^(ERR_(SSL|TLS|OSSL)|EPROTO$|HANDSHAKE_SSL_ERROR$)/, 'no TLS connection to the server could be made'],
  [/^(ECONNRESET|EPIPE|PROTOCOL_CONNECTION_LOST)$/, 'the server closed the connection before it was ready'],
]

/** Messages that drivers and their pools report without a code. */
const MESSAGES: readonly (readonly [message: RegExp, reason: string])[] = [
  [/does not support SSL/, 'the server does not support TLS, which the connection asks for'],
  [/^SASL|password must be a string/, 'the server asks for a password: none was given, or it cannot be used'],
  [
    /^Connection terminated due to connection timeout/,
    'the server does not answer in time: check the host and the port',
  ],
  [/^Connection terminated/, 'the server closed the connection before it was ready'],
  [/^(Cannot use a pool after calling end|Pool is closed)/, 'the pool of the storage has been closed'],
]

/**
 * Returns why a connection to a server could not be made, if the server itself has not answered; undefined if that is
 * not known. The reason contains the code of the driver's error, but neither addresses nor names.
 */
export function whyNotConnected(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined

  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const known = code === undefined ? undefined : REASONS.find(([pattern]) => pattern.test(code))
  if (known !== undefined) return `${known[1]} (${code})`
  return MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1]
}
