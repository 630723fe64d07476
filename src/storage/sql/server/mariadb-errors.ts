import { closedError, isForgeError } from '../../../schema/errors.ts'
import type { Retry } from '../errors.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'
import { poolBusy, whyNotConnected } from './errors.ts'

/**
 * A row that changed since the snapshot, a lock wait timeout, a deadlock: nothing is done.
 * Source: https://mariadb.com/kb/en/mariadb-error-code-reference/
 */
const ABORTED: ReadonlySet<number> = new Set([1020, 1205, 1213])

/** The same, and a statement that was ended by hand or by a timeout. */
const BUSY: ReadonlySet<number> = new Set([...ABORTED, 1317, 1969])

/** Foreign keys that refuse a row, or its removal; the first two without details. */
const REFERENCES: ReadonlySet<number> = new Set([1216, 1217, 1451, 1452])

const UNAVAILABLE: ReadonlyMap<number, string> = new Map([
  [1021, 'the disk of the server is full'],
  [1040, 'the server has too many connections'],
  [1044, 'the server refuses the user access to the database: grant it, or correct the name of the database'],
  [1045, 'the server refuses the user: correct the user or the password'],
  [1047, 'the server is not ready for use'],
  [1049, 'the server has no database of that name: create it, or correct the name'],
  [1053, 'the server is shutting down'],
  [1054, 'a column of the storage is missing: see schemaStatus()'],
  [1114, 'a table of the server is full'],
  [1129, 'the server has blocked this host'],
  [1130, 'the server refuses connections from this host'],
  [1142, 'the server refuses the user access to a table of the storage: grant the privilege it lacks'],
  [1143, 'the server refuses the user access to a column of the storage: grant the privilege it lacks'],
  [1146, 'a table of the storage is missing: migrate(), or see schemaStatus()'],
  [1152, 'the connection to the server was lost'],
  [1153, 'the server does not accept that much data at once: raise max_allowed_packet'],
  [1203, 'the server refuses the user another connection'],
  [1226, 'the user has exceeded a resource limit of the server'],
  [1290, 'the server is read-only'],
  [1461, 'the server keeps too many prepared statements: raise max_prepared_stmt_count'],
  [1665, 'the server cannot log what is written here: set binlog_format to MIXED or ROW'],
  [1698, 'the server refuses the user: correct the user, or how it logs in'],
  [1836, 'the server is read-only'],
  [1927, 'the connection to the server was ended'],
])

/** Codes of Node and of mysql2 for a server that cannot be reached, or can no longer be reached. */
const LOST =
  /^(ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_|EHOST|ENET|ENOENT$|EACCES$|ERR_(SSL|TLS|SOCKET|STREAM)|PROTOCOL_|HANDSHAKE_|POOL_)/

/** The message of mysql2 for a pool that was ended. */
const POOL_ENDED = /^Pool is closed/

/** The messages of mysql2 for a pool or a connection that has ended; they have no codes. */
const ENDED = /^(Pool is closed|Can't (add new command|write) )/

/** The messages of mysql2 for a pool that must not wait, or in which too many calls wait already. */
const EXHAUSTED = /^(No connections available|Queue limit reached)/

/**
 * Returns the error to throw for an error of mysql2, with that error as cause: `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`,
 * BrokenReference, or TypeError for a read-only transaction. Any other error is a fault and is returned unchanged.
 * Messages contain neither SQL nor addresses.
 */
export function translateError(error: unknown, retry: Retry): unknown {
  if (!(error instanceof Error) || isForgeError(error)) return error

  const number = errorNumber(error)
  if (number !== undefined && BUSY.has(number)) return busy(retry, error)
  if (number !== undefined && REFERENCES.has(number)) return new BrokenReference(error)
  if (number === READ_ONLY)
    return new TypeError('the transaction is read-only: begin one that can write', { cause: error })

  const message = number === undefined ? undefined : UNAVAILABLE.get(number)
  if (message !== undefined) return unavailable(message, error)
  if (EXHAUSTED.test(error.message)) return poolBusy(error)
  if (POOL_ENDED.test(error.message)) return closedError('the pool is closed', error)
  return saysLost(error) ? unavailable('the server cannot be reached', error) : error
}

/** Returns the error to throw for a failed connection. If the server answered, its answer says why. */
export function translateConnectError(error: unknown): unknown {
  const translated = translateError(error, 'call')
  if (isForgeError(translated, 'STORAGE_UNAVAILABLE') && translated.details.closed === true) return translated

  const reason = errorNumber(error) === undefined ? whyNotConnected(error) : undefined
  return reason === undefined ? translated : unavailable(reason, error)
}

/** Returns whether nothing can run any more on the connection that threw this error. */
export function saysLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('fatal' in error && error.fatal === true) return true
  return ENDED.test(error.message) || ('code' in error && typeof error.code === 'string' && LOST.test(error.code))
}

/** Returns whether the server reports that it has aborted a transaction, or a statement in it: neither is committed. */
export function saysAborted(error: unknown): boolean {
  const number = errorNumber(error)
  return number !== undefined && ABORTED.has(number)
}

/** Returns whether this error ended the whole transaction: nothing that was done in it before is left. */
export function endsTransaction(error: unknown): boolean {
  const number = errorNumber(error)
  return number !== undefined && ENDING.has(number)
}

/** Returns whether the server has refused a connection because it has too many, or the user has. */
export function saysFull(error: unknown): boolean {
  const number = errorNumber(error)
  return number !== undefined && FULL.has(number)
}

/** Too many connections of all users, and of one: by the limit of the server, or by that of the account. */
const FULL: ReadonlySet<number> = new Set([1040, 1203, 1226])

/** Returns whether a savepoint does not exist: the transaction in which it was set has ended. */
export function saysNoSavepoint(error: unknown): boolean {
  return errorNumber(error) === NO_SAVEPOINT
}

const NO_SAVEPOINT = 1305

/** A row that changed since the snapshot, a deadlock, and a savepoint that no longer exists. */
const ENDING: ReadonlySet<number> = new Set([1020, 1213, NO_SAVEPOINT])

/** A write in a read-only transaction. */
const READ_ONLY = 1792

/** Returns the server's own number for an error; undefined if the error did not come from a server. */
function errorNumber(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errno' in error)) return undefined
  return typeof error.errno === 'number' && error.errno > 0 ? error.errno : undefined
}
