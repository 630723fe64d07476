import { propertyOf } from '../../../schema/arguments.ts'
import { closedError, ForgeError, isForgeError } from '../../../schema/errors.ts'
import { isError, isTypeError } from '../../../schema/realms.ts'
import type { Retry } from '../errors.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'
import type { Meaning } from './error-codes.ts'
import { MARIADB_ERRORS, POSTGRES_ERRORS, UNAVAILABLE } from './error-codes.ts'

/**
 * Returns the error to throw for an error of a driver or a library, which is its cause: `STORAGE_BUSY` for a definite
 * abort, `STORAGE_UNAVAILABLE`, `BrokenReference`, TypeError for a transaction that is not open. Any other error is a fault
 * and is returned unchanged. Messages contain neither SQL nor addresses.
 */
export function translate(error: unknown, retry: Retry): unknown {
  if (isForgeError(error) || error instanceof BrokenReference) return error
  const code = serverCode(error)
  if (code === undefined) return withoutAnswer(error)
  const meaning = meaningOf(error, code)
  switch (meaning) {
    case undefined:
      return error
    case 'aborted':
      return busy(retry, error)
    case 'failed': {
      const message = 'an earlier statement of the transaction has failed: roll the transaction back'
      return new ForgeError('STORAGE_BUSY', message, { retry }, { cause: error })
    }
    case 'exists': {
      const [, name = ''] = /"([^"]+)"/.exec(String(propertyOf(error, 'message'))) ?? []
      const what = name === '' ? 'what is to be created' : name // other languages have other quotation marks
      const message = `the database already has ${what}: if another forge follows the same table, choose another prefix`
      return new ForgeError('SCHEMA_CONFLICT', message, { name }, { cause: error })
    }
    case 'reference':
      return new BrokenReference(error)
    case 'outside': {
      const message = 'the connection is not inside a transaction: begin one on it, and pass it, not the pool'
      return new TypeError(message, { cause: error })
    }
    default:
      return unavailable(`${UNAVAILABLE[meaning]} (${code})`, error)
  }
}

/** Returns whether an error of a driver is a definite abort of the whole transaction. */
export function isAbort(error: unknown): boolean {
  return meaningOf(error) === 'aborted'
}

/** Returns whether the server, or a proxy before it, accepts no more connections. */
export function isTooManyConnections(error: unknown): boolean {
  return meaningOf(error) === 'full'
}

/** Returns whether a failed COMMIT was refused by a server that keeps running: then nothing is committed. */
export function isRefusedCommit(error: unknown): boolean {
  if (isAbort(error)) return true
  return serverCode(error)?.length === 5 && !isForgeError(translate(error, 'call'), 'STORAGE_UNAVAILABLE')
}

/** Returns whether a server refused a statement, so that nothing is written. A server that is stopping may have committed it. */
export function isRefused(error: unknown): boolean {
  const code = serverCode(error)
  return code?.length === 5 && !/^(08|57P|58|XX)/.test(code)
}

/** Returns whether the server refused the name of a prepared statement. The statement was not run in that case. */
export function isWrongStatementName(error: unknown): boolean {
  return /^(26000|42P05|0A000)$/.test(serverCode(error) ?? '')
}

/** Returns whether an error shows that its connection is lost: the server, the library or Node has closed it. */
export function isLost(error: unknown): boolean {
  const isEnded = layersOf(error).some((layer) => /^(FATAL|PANIC)$/.test(String(Reflect.get(layer, 'severity'))))
  return (
    isEnded ||
    codeIn(error, /^(CONNECTION_|PROTOCOL_CONNECTION_LOST$|E(CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH)$)/) !==
      undefined
  )
}

/**
 * Returns whether MariaDB refused to compare a value with a column of the host whose character set cannot hold the value (1267). No
 * row is equal to it.
 */
export function equalsNothing(error: unknown): boolean {
  return serverCode(error) === '1267' && /COERCIBLE/.test(String(propertyOf(error, 'message')))
}

/** Codes of PostgreSQL have five characters, those of MariaDB are numbers of four digits. */
function meaningOf(error: unknown, code = serverCode(error)): Meaning | undefined {
  if (code === undefined) return undefined
  if (code === PROTOCOL_VIOLATION) return byProxy(error)
  const known = MARIADB_ERRORS[code] ?? POSTGRES_ERRORS[code]
  return known ?? POSTGRES_ERRORS[code.slice(0, 3)] ?? POSTGRES_ERRORS[code.slice(0, 2)]
}

/** PgBouncer has this one code for what it refuses itself. */
const PROTOCOL_VIOLATION = '08P01'

/** Texts of PgBouncer 1.18. */
function byProxy(error: unknown): Meaning {
  const text = layersOf(error)
    .map((layer) => String(Reflect.get(layer, 'message')))
    .join()
  if (/no more connections allowed|max_client_conn/.test(text)) return 'full'
  return /unsupported startup parameter/.test(text) ? 'proxy' : 'cannot-now'
}

/** The properties in which libraries keep the error of the driver: the first is standard, the others are Prisma's. */
const CAUSES = ['cause', 'meta', 'driverAdapterError', 'originalError'] as const

/** Returns an error and those that it wraps, from the outside to the inside. A ForgeError ends the list. */
function layersOf(error: unknown): readonly object[] {
  const layers: object[] = typeof error === 'object' && error !== null ? [error] : []
  for (const layer of layers) {
    if (isForgeError(layer)) continue
    for (const name of CAUSES) {
      const inner: unknown = Reflect.get(layer, name)
      if (typeof inner === 'object' && inner !== null && !layers.includes(inner)) layers.push(inner)
    }
  }
  return layers
}

/** Returns the first code of an error that looks like this, also if a library has wrapped the error. */
function codeIn(error: unknown, pattern: RegExp): string | undefined {
  const codes = layersOf(error).flatMap((layer) =>
    ['errno', 'code', 'originalCode'].map((name) => String(Reflect.get(layer, name))),
  )
  return codes.find((code) => pattern.test(code))
}

/** Returns the code of the server. Codes of Node, of Prisma and of the package mariadb (45…) are others. */
function serverCode(error: unknown): string | undefined {
  return codeIn(error, /^([1-9]\d{3}|(?=.*\d)(?!P[1-9]|45\d)[0-9A-Z]{5})$/)
}

/** What pools say that have a limit of their own to how long they are waited for. */
const NO_CONNECTION =
  /^(timeout exceeded when trying to connect|No connections available|Queue limit reached)|\) pool timeout: failed to retrieve/

/** What failures of TLS mean: codes of Node, OpenSSL and the drivers. pg has none for a server without TLS. */
const TLS_ERRORS: readonly (readonly [pattern: RegExp, meaning: 'no-tls' | 'certificate' | 'tls'])[] = [
  [/^(HANDSHAKE_NO_SSL_SUPPORT|ER_SERVER_SSL_DISABLED)$/, 'no-tls'],
  [/CERT|^(UNABLE_TO|CRL|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/, 'certificate'],
  [/^(ERR_(TLS|SSL|OSSL)_|HANDSHAKE_SSL_ERROR$|EPROTO$)/, 'tls'],
]

/** MariaDB closes the connection without reading the rest, so its answer, 1153, is lost if the rest is long. */
const BY_SIZE = '; if much was sent to MariaDB, raise max_allowed_packet'

/** The error of a driver or a library that has no answer of the server. */
function withoutAnswer(error: unknown): unknown {
  if (!isError(error) || isTypeError(error) || error.name === 'EvalError') return error
  const { message } = error
  if (
    /^(Cannot use a pool after calling end|Pool is closed|pool is closed|driver has already been destroyed)|\) pool is closed$/.test(
      message,
    )
  ) {
    return closedError('the pool is closed', error)
  }
  if (NO_CONNECTION.test(message)) return busy('call', error)
  if (message === 'Query read timeout') {
    return unavailable('pg has waited as long as the query_timeout of its pool allows: raise it', error)
  }
  if (/Transaction (is |query )?already (closed|complete|committed|rolled back)/.test(message)) {
    const ended = 'the transaction has ended: it was committed, rolled back, or took longer than its library allows'
    return new TypeError(ended, { cause: error })
  }
  if (message === 'The server does not support SSL connections') return unavailable(UNAVAILABLE['no-tls'], error)
  for (const [pattern, meaning] of TLS_ERRORS) {
    const code = codeIn(error, pattern)
    if (code !== undefined) return unavailable(`${UNAVAILABLE[meaning]} (${code})`, error)
  }
  const code = codeIn(error, /^(?!P\d)[A-Z][A-Z_0-9]+$/)
  const where = code === undefined ? '' : ` (${code})`
  const advice = `check that it runs, and the host and the port${/^(ECONNRESET|EPIPE)$/.test(code ?? '') ? BY_SIZE : ''}`
  return unavailable(`the server cannot be reached${where}: ${advice}`, error)
}
