import { closedError, ForgeError, isForgeError } from '../../../schema/errors.ts'
import type { Retry } from '../errors.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'

// Codes of PostgreSQL have five characters, those of MariaDB are numbers of four digits. Sources:
// https://www.postgresql.org/docs/current/errcodes-appendix.html, https://mariadb.com/kb/en/mariadb-error-code-reference/

/** Nothing is done, and the same work may succeed: serialization, deadlock, lock timeout, or ended by another timeout. */
const ABORTED = /^(40001|40P01|55P03|57014|1020|1205|1213|1317|1969)$/
/** An earlier statement of the transaction has failed: only its end can run in it. */
const FAILED = '25P02'
/** Foreign keys that refuse a row, or its removal. */
const REFERENCES = /^(23503|1216|1217|1451|1452)$/
/** No transaction is open, or a transaction that the server has ended. */
const OUTSIDE = /^(25P01|1305)$/
/** Too many connections of all users, or of one. */
const FULL = /^(53300|1040|1203|1226)$/

/** What is unavailable. The first that fits counts. */
const UNAVAILABLE: readonly (readonly [codes: RegExp, message: string])[] = [
  [/^(28...|1045|1130|1698)$/, 'the server refuses the user: correct the user or the password'],
  [/^(3D000|1046|1049)$/, 'the server has no database of that name: create it, or correct the name'],
  [/^(42501|1044|1142|1143)$/, 'the user lacks a privilege: grant it what it needs on the database and its tables'],
  [/^3F000$/, 'the schema does not exist: create it, or correct its name or search_path'],
  [/^(42P01|42703|1054|1146)$/, 'a table or a column of the storage is missing: see schemaStatus()'],
  [FULL, 'the server has too many connections'],
  [/^(53...|1021|1114)$/, 'the server has no space or no memory left'],
  [/^1153$/, 'the server does not accept that much data at once: raise max_allowed_packet'],
  [/^(25006|0A000|1290|1792|1836)$/, 'the server is read-only, or a standby, or the transaction is read-only'],
  [/^(08...|25P..|57P..|58...|XX...|1047|1053|1129|1461|1665|1927)$/, 'the server cannot do this now'],
]

/**
 * Returns the error to throw for an error of a driver or a library, which is its cause: `STORAGE_BUSY` for a definite
 * abort, `STORAGE_UNAVAILABLE`, `BrokenReference`, TypeError for a transaction that is not open. Any other error is a fault
 * and is returned unchanged. Messages contain neither SQL nor addresses.
 */
export function translate(error: unknown, retry: Retry): unknown {
  if (isForgeError(error) || error instanceof BrokenReference) return error
  const code = serverCode(error)
  if (code === undefined) return withoutAnswer(error)
  if (ABORTED.test(code)) return busy(retry, error)
  if (code === FAILED) {
    const message = 'an earlier statement of the transaction has failed: roll the transaction back'
    return new ForgeError('STORAGE_BUSY', message, { retry }, { cause: error })
  }
  if (REFERENCES.test(code)) return new BrokenReference(error)
  if (OUTSIDE.test(code)) {
    const message = 'the connection is not inside a transaction: begin one on it, and pass it, not the pool'
    return new TypeError(message, { cause: error })
  }
  const message = UNAVAILABLE.find(([codes]) => codes.test(code))?.[1]
  return message === undefined ? error : unavailable(`${message} (${code})`, error)
}

/** Returns whether an error of a driver is a definite abort of the whole transaction. */
export function saysAborted(error: unknown): boolean {
  return ABORTED.test(serverCode(error) ?? '')
}

/** Returns whether the server accepts no more connections. */
export function saysFull(error: unknown): boolean {
  return FULL.test(serverCode(error) ?? '')
}

/** Returns whether a failed COMMIT was refused by a server that keeps running: then nothing is committed. */
export function saysRefused(error: unknown): boolean {
  const code = serverCode(error) ?? ''
  return ABORTED.test(code) || (code.length === 5 && !isForgeError(translate(error, 'call'), 'STORAGE_UNAVAILABLE'))
}

/** Returns whether the server refused the name of a prepared statement. The statement was not run in that case. */
export function saysNameIsWrong(error: unknown): boolean {
  return /^(26000|42P05|0A000)$/.test(serverCode(error) ?? '')
}

/** The properties in which libraries keep the error of the driver: the first is standard, the others are Prisma's. */
const BENEATH = ['cause', 'meta', 'driverAdapterError', 'originalError'] as const

/** Returns an error and those that it wraps, from the outside to the inside. A ForgeError ends the list. */
function layersOf(error: unknown): readonly object[] {
  const layers: object[] = typeof error === 'object' && error !== null ? [error] : []
  for (const layer of layers) {
    if (isForgeError(layer)) continue
    for (const name of BENEATH) {
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

/** Returns the code of the server. Codes of Node and of Prisma are others. */
function serverCode(error: unknown): string | undefined {
  return codeIn(error, /^([1-9]\d{3}|(?=.*\d)(?!P[1-9])[0-9A-Z]{5})$/)
}

/** The error of a driver or a library that has no answer of the server. */
function withoutAnswer(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError) return error
  const { message } = error
  if (/^(Cannot use a pool after calling end|Pool is closed|driver has already been destroyed)/.test(message)) {
    return closedError('the pool is closed', error)
  }
  if (/^(timeout exceeded when trying to connect|No connections available|Queue limit reached)/.test(message)) {
    return busy('call', error)
  }
  if (/Transaction (is |query )?already (closed|complete|committed|rolled back)/.test(message)) {
    const ended = 'the transaction has ended: it was committed, rolled back, or took longer than its library allows'
    return new TypeError(ended, { cause: error })
  }
  const code = codeIn(error, /^(?!P\d)[A-Z][A-Z_0-9]+$/)
  const where = code === undefined ? '' : ` (${code})`
  return unavailable(`the server cannot be reached${where}: check that it runs, and the host and the port`, error)
}
