import { closedError, isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { codeOf, columnOf, layersOf } from './answers.ts'
import { MAX_LOCK_WAIT_MS, MAX_LONG_CALL_MS } from './call.ts'
import type { ServerRules } from './server.ts'

// A host may have set `completion_type`: then a bare COMMIT begins another transaction, or ends the connection.
export const COMMIT: Statement<unknown> = command('commit and no chain no release')
export const ROLL_BACK: Statement<unknown> = command('rollback and no chain no release')

/** MariaDB. */
export const mariadbRules: ServerRules = {
  begin: [command('set transaction isolation level read committed'), command('start transaction read write')],
  setUp: [],
  textOf: (statement, whose) => (whose === 'own' ? limited(statement) : unlimited(statement)),
  lengthen: undefined,

  async refuseUnfit(send, ids) {
    const [[settings] = []] = await send([SETTINGS])
    refuseServer(String(columnOf(settings, 'version')), Object.values(ids.columns).includes('uuid'))
    refuseConnection(settings)
  },

  async warnings(send) {
    const [[row] = []] = await send([DURABILITY])
    return warningsAbout(Number(columnOf(row, 'flush')), Number(columnOf(row, 'sync')))
  },

  translate(error, retry) {
    if (isForgeError(error) || error instanceof BrokenReference) return error
    const number = errorNumber(error)
    if (number === undefined) return withoutAnswer(error)
    if (BUSY.has(number)) return busy(retry, error)
    if (number === NO_SAVEPOINT && retry === 'host-transaction') return busy(retry, error) // the transaction is lost
    if (REFERENCES.has(number)) return new BrokenReference(error)
    if (number === READ_ONLY) {
      return new TypeError('the transaction is read-only: begin one that can write', { cause: error })
    }
    if (number === NO_DATABASE) {
      const message = 'the connection has no database: name it in the URL, or in the options of the pool'
      return new TypeError(message, { cause: error })
    }
    const found = UNAVAILABLE.find(([, ...numbers]) => numbers.includes(number))
    return found === undefined ? error : unavailable(found[0], error)
  },

  saysRefused: (error) => BUSY.has(errorNumber(error) ?? 0),
  saysNoTransaction: (error) => errorNumber(error) === NO_SAVEPOINT,
  saysFull: (error) => FULL.has(errorNumber(error) ?? 0),
}

/** MariaDB through a library that writes parameters into the text of statements, and begins transactions itself. */
export const mariadbRulesForTexts: ServerRules = {
  ...mariadbRules,
  async refuseUnfit(send, ids) {
    await mariadbRules.refuseUnfit(send, ids)
    const [[settings] = []] = await send([SETTINGS])
    refuseMode('NO_BACKSLASH_ESCAPES', settings)
    if (columnOf(settings, 'autocommit') === 'yes') return
    throw new TypeError('the connections of the pool do not commit by themselves: leave autocommit on')
  },
}

/**
 * The settings for the time of one statement. They override what the host has set on its connection, which keeps its
 * own: the host may have switched foreign keys off for an import, or limited its lists.
 */
const ALWAYS =
  'foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, sql_big_selects = 1, ' +
  'sql_select_limit = 18446744073709551615'

const LOCK_WAIT_S = MAX_LOCK_WAIT_MS / 1000
const LIMITS = `innodb_lock_wait_timeout = ${LOCK_WAIT_S}, lock_wait_timeout = ${LOCK_WAIT_S}`
const OURS = `set statement ${LIMITS}, max_statement_time = ${LOCK_WAIT_S}, ${ALWAYS} for `
const OURS_LONG = `set statement ${LIMITS}, max_statement_time = ${MAX_LONG_CALL_MS / 1000}, ${ALWAYS} for `
const HOSTS = `set statement ${ALWAYS} for `

/** The statements that settings are for: not `savepoint`, `show` or one that has settings of its own. */
const HAS_SETTINGS = /^(select|insert|update|delete|with)\b/

/** Returns a statement on our own connection, with its limits. */
function limited({ sql, mayTakeLong }: Statement<unknown>): string {
  if (!HAS_SETTINGS.test(sql)) return sql
  return `${mayTakeLong === true ? OURS_LONG : OURS}${sql}`
}

/** Returns a statement in a host's transaction, which has the limits of the host. */
function unlimited({ sql }: Statement<unknown>): string {
  return HAS_SETTINGS.test(sql) ? `${HOSTS}${sql}` : sql
}

/** Sent without our settings, because of its comment: MySQL does not know them, and is asked for its version too. */
const SETTINGS: Statement<unknown> = {
  sql:
    '/* as it is */ select version() as version, @@character_set_client as client, @@character_set_results as results, ' +
    "@@character_set_connection as literals, @@sql_mode as modes, if(@@autocommit, 'yes', 'no') as autocommit",
  parameters: [],
  returnsRows: true,
}

function refuseServer(version: string, needsUuid: boolean): void {
  const [, major, minor] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\..*mariadb/i.exec(version) ?? []
  if (major === undefined) throw unavailable('the server is not MariaDB: MySQL cannot return the rows that it writes')

  const release = Number(major) * 100 + Number(minor)
  if (release < 1006) throw unavailable(`the server is MariaDB ${major}.${minor}: needed is 10.6 or newer`)
  if (release < 1007 && needsUuid) {
    const fix = 'keep the ids as text, or take 10.7 or newer'
    throw unavailable(`MariaDB ${major}.${minor} has no uuid columns: ${fix}`)
  }
}

function refuseConnection(settings: unknown): void {
  const charsets = ['client', 'literals', 'results'].map((use) => columnOf(settings, use))
  const other = charsets.find((charset) => charset !== 'utf8mb4')
  if (other !== undefined) {
    throw new TypeError(
      `the connection uses ${String(other)}, which loses text: set the charset of mysql2 to 'utf8mb4'`,
    )
  }
  refuseMode('EMPTY_STRING_IS_NULL', settings)
}

function refuseMode(mode: string, settings: unknown): void {
  const modes = String(columnOf(settings, 'modes')).split(',')
  if (modes.includes(mode)) throw new TypeError(`the connection spoils texts: remove ${mode} from its sql_mode`)
}

// Numbers of errors. Source: https://mariadb.com/kb/en/mariadb-error-code-reference/

/** Nothing is done: a row changed since the snapshot, lock wait timeout, deadlock, ended by hand or by a timeout. */
const BUSY: ReadonlySet<number> = new Set([1020, 1205, 1213, 1317, 1969])

/** Foreign keys that refuse a row, or its removal; the first two without details. */
const REFERENCES: ReadonlySet<number> = new Set([1216, 1217, 1451, 1452])

/** Too many connections of all users, and of one: by the limit of the server, or by that of the account. */
const FULL: ReadonlySet<number> = new Set([1040, 1203, 1226])

const NO_SAVEPOINT = 1305
const READ_ONLY = 1792
const NO_DATABASE = 1046

/** What is wrong, by classes of errors. */
const UNAVAILABLE: readonly (readonly [message: string, ...numbers: readonly number[]])[] = [
  ['the server has too many connections', ...FULL],
  ['the server is starting, stopping, or has ended the connection', 1047, 1053, 1927],
  ['the server refuses the user: correct the user or the password', 1045, 1698],
  ['the server refuses connections from this host', 1129, 1130],
  ['the server refuses the user access to the database: grant it, or correct the name of the database', 1044],
  ['the server refuses the user access to a table of the storage: grant the privilege it lacks', 1142, 1143],
  ['the server has no database of that name: create it, or correct the name', 1049],
  ['a table or a column of the storage is missing: see schemaStatus()', 1054, 1146],
  ['the server is read-only', 1290, 1836],
  ['the server has no space left', 1021, 1114],
  ['the server does not accept that much data at once: raise max_allowed_packet', 1153],
  ['the server keeps too many prepared statements: raise max_prepared_stmt_count', 1461],
  ['the server cannot log what is written here: set binlog_format to MIXED or ROW', 1665],
]

/** Returns the number of the server for an error, also if a library has wrapped it. Node's own numbers are negative. */
function errorNumber(error: unknown): number | undefined {
  for (const layer of layersOf(error)) {
    for (const name of ['errno', 'code', 'originalCode']) {
      const number = Number(Reflect.get(layer, name) ?? Number.NaN)
      if (number > 1000) return number
    }
  }
  return undefined
}

/** The error of a driver or a library that has no answer of the server. */
function withoutAnswer(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (/^Pool is closed/.test(error.message)) {
    return closedError('the pool is closed', error)
  }
  if (/^(No connections available|Queue limit reached)/.test(error.message)) return busy('call', error)
  const isLost = LOST.test(codeOf(error)) || columnOf(error, 'fatal') === true || ENDED.test(error.message)
  if (!isLost) return error
  return unavailable(
    `the server cannot be reached${codeOf(error)}: check that it runs, and the host and the port`,
    error,
  )
}

/** Codes of Node and of mysql2 for a server that cannot be reached, or can no longer be reached. */
const LOST =
  /^ \((ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|ENOENT|EACCES|ERR_(SSL|TLS|SOCKET|STREAM)|PROTOCOL_|HANDSHAKE_|POOL_)/

/** The messages of mysql2 for a connection that has ended; they have no codes. */
const ENDED = /^Can't (add new command|write) /

/** The settings that decide whether committed data is durable. Without a binary log, how often it is written is 1. */
const DURABILITY: Statement<unknown> = {
  sql:
    'select cast(@@global.innodb_flush_log_at_trx_commit as double) as flush, ' +
    'cast(if(@@global.log_bin, @@global.sync_binlog, 1) as double) as sync',
  parameters: [],
  returnsRows: true,
}

function warningsAbout(flush: number, sync: number): readonly string[] {
  const lost = 'committed data may be lost when'
  return [
    ...(flush === 1 ? [] : [`the server has innodb_flush_log_at_trx_commit = ${flush}: ${lost} it stops; set it to 1`]),
    ...(sync === 1 ? [] : [`the server has sync_binlog = ${sync}: ${lost} its machine stops; set it to 1`]),
  ]
}
