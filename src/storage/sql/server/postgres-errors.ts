import { closedError, isForgeError } from '../../../schema/errors.ts'
import type { Retry } from '../errors.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'
import { alreadyFailed, poolBusy, whyNotConnected } from './errors.ts'

// Codes and classes of codes. Source: https://www.postgresql.org/docs/current/errcodes-appendix.html

/** An earlier statement of the transaction has failed. */
const IN_FAILED_TRANSACTION = '25P02'

/** Nothing is done, and the same work may succeed when it is retried. */
const DEFINITE_ABORTS: ReadonlySet<string> = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available: the lock timeout passed
  '57014', // query_canceled: by a timeout of the host, or by hand
  IN_FAILED_TRANSACTION,
])

const TOO_MANY_CONNECTIONS = '53300'
const FOREIGN_KEY_VIOLATION = '23503'
const NO_ACTIVE_TRANSACTION = '25P01'

const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ['08', 'the connection to the PostgreSQL server was lost'],
  ['28', 'the PostgreSQL server refuses the user: check its name, and that it may log in'],
  ['28P01', 'the PostgreSQL server refuses the password: correct the user or the password'],
  [TOO_MANY_CONNECTIONS, 'the PostgreSQL server has too many connections'],
  ['53', 'the PostgreSQL server has run out of resources'],
  ['57P', 'the PostgreSQL server is stopping, starting, or has ended the connection'],
  ['58', 'the PostgreSQL server cannot read or write its files'],
  ['XX001', 'the database is damaged'],
  ['XX002', 'the database is damaged'],
  ['25006', 'the database is read-only'],
  ['0A000', 'the database is read-only: the server is a standby'],
  ['25P03', 'the PostgreSQL server has ended an idle transaction'],
  ['25P04', 'the PostgreSQL server has ended a transaction that took too long'],
  ['3D000', 'the database does not exist: create it, or correct its name'],
  ['3F000', 'the schema does not exist'],
  ['42P01', 'a table of the storage is missing: see schemaStatus()'],
  ['42703', 'a column of the storage is missing: see schemaStatus()'],
  ['42501', 'the role of the connection lacks a privilege: grant it what it needs on the schema and its tables'],
])

/**
 * Returns the error to throw for a failed statement, with the driver's error as cause: `STORAGE_BUSY`,
 * `STORAGE_UNAVAILABLE`, `BrokenReference`, or TypeError if no transaction is open. Any other error is a fault and is
 * returned unchanged. Messages contain neither SQL nor values.
 */
export function translateError(error: unknown, retry: Retry): unknown {
  const state = sqlState(error)
  if (state === undefined) return isFromUs(error) ? error : withoutAnswer(error)
  if (state === IN_FAILED_TRANSACTION) return alreadyFailed(retry, error)
  if (DEFINITE_ABORTS.has(state)) return busy(retry, error)
  if (state === FOREIGN_KEY_VIOLATION) return new BrokenReference(error)
  if (state === NO_ACTIVE_TRANSACTION) return new TypeError(OUTSIDE, { cause: error })

  const message = whyUnavailable(state)
  return message === undefined ? error : unavailable(message, error)
}

/** Returns the error to throw for a failed connection. If the server answered, its answer says why. */
export function translateConnectError(error: unknown): unknown {
  if (error instanceof Error && POOL_ENDED.test(error.message)) return closedError('the pool is closed', error)

  const state = sqlState(error)
  const message = state === undefined ? whyNotConnected(error) : (whyNotAdmitted(error) ?? whyUnavailable(state))
  if (isPoolTimeout(error)) return poolBusy(error)
  return unavailable(message ?? 'the PostgreSQL server provides no connection', error)
}

/** Returns the error to throw for a failed COMMIT. Only the answer of a server that keeps running is decisive. */
export function translateCommitError(error: unknown): unknown {
  const translated = sqlState(error) === FOREIGN_KEY_VIOLATION ? error : translateError(error, 'call')
  if (!isForgeError(translated, 'STORAGE_UNAVAILABLE')) return translated
  return unavailable(
    'the connection to the PostgreSQL server was lost while committing: the change may be committed',
    error,
    'unknown',
  )
}

/** Returns whether the server has refused a connection because it has too many, or its role or database has. */
export function saysFull(error: unknown): boolean {
  return sqlState(error) === TOO_MANY_CONNECTIONS
}

/**
 * Returns the error to throw for an error of the host's own code in our transaction. Its definite aborts abort the
 * whole transaction.
 */
export function translateHostError(error: unknown): unknown {
  const state = sqlState(error)
  return state !== undefined && DEFINITE_ABORTS.has(state) ? busy('call', error) : error
}

/**
 * Returns whether the server refused the name of a prepared statement: the name is unknown or taken, or the columns
 * have changed. The statement was not run in that case.
 */
export function saysNameIsWrong(error: unknown): boolean {
  const state = sqlState(error)
  return state === '26000' || state === '42P05' || state === '0A000'
}

/** The message of pg for a pool that was ended; it has no code. */
const POOL_ENDED = /^Cannot use a pool after calling end/

/**
 * Returns whether a statement that only works outside a transaction was refused: the client is inside one, usable or
 * failed. Checks the cause too, if the error is already translated.
 */
export function saysInsideTransaction(error: unknown): boolean {
  const state = sqlState(error) ?? sqlState(error instanceof Error ? error.cause : undefined)
  return state !== undefined && INSIDE_TRANSACTION.has(state)
}

/**
 * A BEGIN that can no longer set its modes, a procedure that cannot roll back, and anything in a failed transaction.
 */
const INSIDE_TRANSACTION: ReadonlySet<string> = new Set(['25001', '2D000', IN_FAILED_TRANSACTION])

const LOST = 'the connection to the PostgreSQL server was lost'
const OUTSIDE = 'the client is not inside a transaction: begin one on it, and pass the client, not the pool'

/** The message of a pg pool when none of its clients became free within its own `connectionTimeoutMillis`. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect'

function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === POOL_TIMEOUT
}

function withoutAnswer(error: unknown): unknown {
  return isPoolTimeout(error) ? poolBusy(error) : unavailable(LOST, error)
}

/** Only the text of the error shows that TLS is missing. The text contains addresses too. */
function whyNotAdmitted(error: unknown): string | undefined {
  if (sqlState(error) !== '28000' || !(error instanceof Error) || !error.message.includes('pg_hba.conf'))
    return undefined

  const reason = 'the pg_hba.conf of the PostgreSQL server does not admit the connection'
  return /no encryption|SSL off/.test(error.message) ? `${reason} without TLS: set sslmode, or ssl of the pool` : reason
}

function whyUnavailable(state: string): string | undefined {
  return [5, 3, 2].map((length) => UNAVAILABLE.get(state.slice(0, length))).find((found) => found !== undefined)
}

/**
 * Returns the code of an error that the server sent. Node's own errors have a code too, such as EPIPE, but no severity.
 */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function isFromUs(error: unknown): boolean {
  return isForgeError(error) || error instanceof BrokenReference
}
