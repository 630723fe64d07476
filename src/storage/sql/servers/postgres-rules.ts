import { closedError, ForgeError, isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Retry } from '../errors.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { codeOf, columnOf, layersOf } from './answers.ts'
import { MAX_IDLE_S, MAX_LOCK_WAIT_MS, MAX_LONG_CALL_MS } from './call.ts'
import type { ServerRules } from './server.ts'

/** The oldest version of the server that can be used, as the server itself writes it. */
const MIN_VERSION = 130_000

/** The server ends what waits, or is silent, longer than a call may take. */
const LIMITS = [
  ['lock_timeout', `${MAX_LOCK_WAIT_MS}ms`],
  ['statement_timeout', `${MAX_LOCK_WAIT_MS}ms`],
  ['idle_in_transaction_session_timeout', `${MAX_IDLE_S}s`],
]
  .map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`)
  .join(', ')

/** A `synchronous_commit` that also waits for standby servers is left unchanged. */
const DURABLE =
  "case when pg_catalog.current_setting('synchronous_commit') in ('off', 'local') " +
  "then pg_catalog.set_config('synchronous_commit', 'on', true) end"

const SET_UP = command(`select ${LIMITS}, ${DURABLE}`)

/** PostgreSQL. All modes of a transaction are explicit, because a role or a database may have other defaults. */
export const postgresRules: ServerRules = {
  begin: [command('begin isolation level read committed read write'), SET_UP],
  setUp: [SET_UP],
  textOf: ({ sql }) => sql,
  lengthen: command(`set local statement_timeout = ${MAX_LONG_CALL_MS}`),

  async refuseUnfit(send) {
    const [[row] = []] = await send([VERSION])
    const version = Number(columnOf(row, 'version'))
    if (version >= MIN_VERSION) return
    throw unavailable(`the server is PostgreSQL ${Math.floor(version / 10_000)}: needed is 13 or newer`)
  },

  async warnings(send) {
    const [rows = []] = await send([DURABILITY])
    return rows.flatMap((row) => WARNINGS[String(columnOf(row, 'name'))] ?? [])
  },

  translate(error, retry) {
    if (isForgeError(error) || error instanceof BrokenReference) return error
    const state = sqlState(error)
    if (state === undefined) return withoutAnswer(error)
    if (state === IN_FAILED_TRANSACTION) return alreadyFailed(retry, error)
    if (ABORTED.has(state)) return busy(retry, error)
    if (state === '23503') return new BrokenReference(error)
    if (state === NO_TRANSACTION) return new TypeError(OUTSIDE, { cause: error })

    const message = UNAVAILABLE.find(([code]) => code.test(state))?.[1]
    return message === undefined ? error : unavailable(message, error)
  },

  saysRefused(error) {
    const state = sqlState(error)
    return state !== undefined && !isForgeError(postgresRules.translate(error, 'call'), 'STORAGE_UNAVAILABLE')
  },

  saysNoTransaction: (error) => sqlState(error) === NO_TRANSACTION,
  saysFull: (error) => sqlState(error) === TOO_MANY_CONNECTIONS,
}

/** Returns whether the server refused the name of a prepared statement. The statement was not run in that case. */
export function saysNameIsWrong(error: unknown): boolean {
  return ['26000', '42P05', '0A000'].includes(sqlState(error) ?? '')
}

// Codes and beginnings of codes. Source: https://www.postgresql.org/docs/current/errcodes-appendix.html

const IN_FAILED_TRANSACTION = '25P02'
const NO_TRANSACTION = '25P01'
const TOO_MANY_CONNECTIONS = '53300'

/** Nothing is done, and the same work may succeed: serialization, deadlock, lock timeout, and cancelled by a timeout. */
const ABORTED: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '57014', IN_FAILED_TRANSACTION])

/** What is wrong, by classes of errors. The first that fits counts. */
const UNAVAILABLE: readonly (readonly [code: RegExp, message: string])[] = [
  [/^08/, 'the connection to the PostgreSQL server was lost'],
  [/^28P01/, 'the PostgreSQL server refuses the password: correct the user or the password'],
  [/^28/, 'the PostgreSQL server refuses the user: check its name, and that it may log in'],
  [/^53/, 'the PostgreSQL server has too many connections, or no memory or space left'],
  [/^57P/, 'the PostgreSQL server is stopping, starting, or has ended the connection'],
  [/^(58|XX)/, 'the PostgreSQL server cannot read or write its files'],
  [/^(25006|0A000)/, 'the database is read-only, or a standby'],
  [/^25P0/, 'the PostgreSQL server has ended a transaction that took too long'],
  [/^3D000/, 'the database does not exist: create it, or correct its name'],
  [/^3F000/, 'the schema does not exist'],
  [/^(42P01|42703)/, 'a table or a column of the storage is missing: see schemaStatus()'],
  [/^42501/, 'the role of the connection lacks a privilege: grant it what it needs on the schema and its tables'],
]

const OUTSIDE = 'the client is not inside a transaction: begin one on it, and pass the client, not the pool'

/** Returns the code of the server, also if a library has wrapped its error. Codes of Node and of Prisma are others. */
function sqlState(error: unknown): string | undefined {
  for (const layer of layersOf(error)) {
    for (const name of ['code', 'originalCode']) {
      const code: unknown = Reflect.get(layer, name)
      if (typeof code === 'string' && /^(?=.*\d)(?!P[1-9])[0-9A-Z]{5}$/.test(code)) return code
    }
  }
  return undefined
}

/** The error of a driver or a library that has no answer of the server. */
function withoutAnswer(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError) return error
  if (/^Cannot use a pool after calling end/.test(error.message)) {
    return closedError('the pool is closed', error)
  }
  if (error.message === 'timeout exceeded when trying to connect') return busy('call', error)
  return unavailable(
    `the server cannot be reached${codeOf(error)}: check that it runs, and the host and the port`,
    error,
  )
}

/** Creates the error for a transaction in which an earlier statement has failed: only its end can run in it. */
function alreadyFailed(retry: Retry, cause: unknown): ForgeError<'STORAGE_BUSY'> {
  const message = 'an earlier statement of the transaction has failed: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry }, { cause })
}

const VERSION: Statement<unknown> = {
  sql: 'select pg_catalog.current_setting(\'server_version_num\') as "version"',
  parameters: [],
  returnsRows: true,
}

/** The settings that decide whether committed data is durable, as far as they are off. */
const DURABILITY: Statement<unknown> = {
  sql:
    'select cast(name as text) as "name" from pg_catalog.pg_settings ' +
    "where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name",
  parameters: [],
  returnsRows: true,
}

const WARNINGS: Readonly<Record<string, string>> = {
  fsync: 'the server has fsync = off: committed data may be lost when its machine stops; set fsync = on',
  full_page_writes:
    'the server has full_page_writes = off: the database may be damaged when its machine stops; set it on',
  synchronous_commit:
    'connections have synchronous_commit = off: changes of withTransaction may be lost when the server stops; set it on',
}
