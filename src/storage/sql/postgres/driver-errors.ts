import { closedError, isForgeError } from '../../../schema/errors.ts'
import { whyNotConnected } from '../server/connection-failures.ts'
import type { Retry } from '../server/failures.ts'
import { alreadyFailed, BrokenReference, busy, poolBusy, unavailable } from '../server/failures.ts'

// Codes and classes of codes. Source: https://www.postgresql.org/docs/current/errcodes-appendix.html

/** An earlier statement of the transaction has failed. */
const IN_FAILED_TRANSACTION = '25P02'

/** Nothing is done, and the same may succeed when it is done again. */
const DEFINITE_ABORTS: ReadonlySet<string> = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available: it was waited for long enough
  '57014', // query_canceled: by a timeout of the host's, or by hand
  IN_FAILED_TRANSACTION,
])

const FOREIGN_KEY_VIOLATION = '23503'
const NO_ACTIVE_TRANSACTION = '25P01'

const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ['08', 'the connection to the PostgreSQL server was lost'],
  ['28', 'the PostgreSQL server refuses the user'],
  ['28P01', 'the PostgreSQL server refuses the password'],
  ['53300', 'the PostgreSQL server has too many connections'],
  ['53', 'the PostgreSQL server has run out of something it needs'],
  ['57P', 'the PostgreSQL server is stopping, starting, or has ended the connection'],
  ['58', 'the PostgreSQL server cannot read or write its files'],
  ['XX001', 'the database is damaged'],
  ['XX002', 'the database is damaged'],
  ['25006', 'the database can only be read'],
  ['25P03', 'the PostgreSQL server has ended a transaction that stood still'],
  ['25P04', 'the PostgreSQL server has ended a transaction that was too long'],
  ['3D000', 'the database does not exist'],
  ['3F000', 'the schema does not exist'],
  ['42P01', 'a table of the storage is missing: see schemaStatus()'],
  ['42703', 'a column of the storage is missing: see schemaStatus()'],
  ['42501', 'the role of the connection may not use the tables of the storage'],
])

/**
 * The error to throw for what a statement failed with, the driver's error being the cause: `STORAGE_BUSY`,
 * `STORAGE_UNAVAILABLE`, `BrokenReference`, or TypeError where there is no transaction; anything else is a fault and stays
 * as it is. Messages hold neither SQL nor values.
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

/** The error to throw for what kept a connection from being made: a server that answered has said what was in the way. */
export function translateConnectError(error: unknown): unknown {
  if (error instanceof Error && POOL_ENDED.test(error.message)) return closedError('the pool is closed', error)

  const state = sqlState(error)
  const message = state === undefined ? whyNotConnected(error) : (whyNotAdmitted(error) ?? whyUnavailable(state))
  if (isPoolTimeout(error)) return poolBusy(error)
  return unavailable(message ?? 'the PostgreSQL server gives no connection', error)
}

/** The error to throw for what a COMMIT failed with: only a server that goes on has decided. */
export function translateCommitError(error: unknown): unknown {
  const translated = sqlState(error) === FOREIGN_KEY_VIOLATION ? error : translateError(error, 'call')
  if (!isForgeError(translated, 'STORAGE_UNAVAILABLE')) return translated
  return unavailable('the PostgreSQL server was lost while committing: the change may be done', error, 'unknown')
}

/** What the host's own code threw in our transaction: its definite aborts are those of the whole. */
export function translateHostError(error: unknown): unknown {
  const state = sqlState(error)
  return state !== undefined && DEFINITE_ABORTS.has(state) ? busy('call', error) : error
}

/**
 * Whether the server refused the name of a prepared statement: it has no such, has it already, or its columns were
 * changed. Then the statement was not run.
 */
export function saysNameIsWrong(error: unknown): boolean {
  const state = sqlState(error)
  return state === '26000' || state === '42P05' || state === '0A000'
}

/** What pg says of a pool that was ended; there is no code. */
const POOL_ENDED = /^Cannot use a pool after calling end/

/**
 * Whether a statement that only works outside a transaction was refused: the client is inside one, sound or failed. Looks
 * at the cause too, where the error is translated already.
 */
export function saysInsideTransaction(error: unknown): boolean {
  const state = sqlState(error) ?? sqlState(error instanceof Error ? error.cause : undefined)
  return state !== undefined && INSIDE_TRANSACTION.has(state)
}

/** A BEGIN that cannot set its modes any more, a procedure that cannot roll back, and anything in a failed transaction. */
const INSIDE_TRANSACTION: ReadonlySet<string> = new Set(['25001', '2D000', IN_FAILED_TRANSACTION])

const LOST = 'the connection to the PostgreSQL server was lost'
const OUTSIDE = 'the client is not inside a transaction: begin one on it; a pool is none'

/** What a pool of pg says when none of its clients became free within its own `connectionTimeoutMillis`. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect'

function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === POOL_TIMEOUT
}

function withoutAnswer(error: unknown): unknown {
  return isPoolTimeout(error) ? poolBusy(error) : unavailable(LOST, error)
}

/** Only the text of the error tells that TLS is missing; the text has addresses too. */
function whyNotAdmitted(error: unknown): string | undefined {
  if (sqlState(error) !== '28000' || !(error instanceof Error) || !error.message.includes('pg_hba.conf'))
    return undefined

  const reason = 'the pg_hba.conf of the PostgreSQL server does not admit the connection'
  return /no encryption|SSL off/.test(error.message) ? `${reason} without TLS: set sslmode, or ssl of the pool` : reason
}

function whyUnavailable(state: string): string | undefined {
  return [5, 3, 2].map((length) => UNAVAILABLE.get(state.slice(0, length))).find((found) => found !== undefined)
}

/** The code of an error that the server sent. Node's own have a code too, such as EPIPE, but no severity. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function isFromUs(error: unknown): boolean {
  return isForgeError(error) || error instanceof BrokenReference
}
