import { command, textQuery } from '../dialect.ts'
import { unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { MAX_LONG_CALL_MS } from './deadline.ts'
import { asSent, sentWith } from './sent-values.ts'
import type { ServerRules } from './server.ts'

/** Begins a transaction on a connection whose level is READ COMMITTED. */
export const START: Statement<unknown> = command('start transaction read write')

const BEGIN: readonly Statement<unknown>[] = [command('set transaction isolation level read committed'), START]

/** The limits of one statement, which may write a table of one row without a key. The connection keeps its own. */
function limits(lockWaitMs: number, statementMs = lockWaitMs): string {
  const wholeSeconds = Math.ceil(lockWaitMs / 1000)
  const waits = `innodb_lock_wait_timeout = ${wholeSeconds}, lock_wait_timeout = ${wholeSeconds}`
  return `set statement ${waits}, sql_safe_updates = 0, max_statement_time = ${statementMs / 1000}`
}

/** The statements that limits are for: not `savepoint`, `show` or one that has settings of its own. */
const HAS_LIMITS = /^(select|insert|update|delete|with)\b/

/** MariaDB. */
export const mariadbRules: ServerRules = {
  begin: () => BEGIN,
  async commit(connection) {
    await connection.run('commit', [])
    return true
  },
  lengthen: [],
  giveWay: [],

  limited(statement, lockWaitMs) {
    const { sql, mayTakeLong } = statement
    if (!HAS_LIMITS.test(sql)) return statement
    const long = mayTakeLong === true ? MAX_LONG_CALL_MS : undefined
    return { ...statement, sql: `${limits(lockWaitMs, long)} for ${sql}` }
  },

  async refuseUnfit(session, ids) {
    const { version, modes, charsets } = asSent(await session.first(SETTINGS), ALTERING)
    refuseVersion(version, Object.values(ids.columns).includes('uuid'))
    const other = charsets.split(' ').find((charset) => charset !== 'utf8mb4')
    if (other !== undefined) {
      throw new TypeError(`the connection uses ${other}, which loses text: set the charset of mysql2 to 'utf8mb4'`)
    }
    const unsafe = UNSAFE.find((mode) => modes.includes(mode))
    if (unsafe !== undefined) throw new TypeError(`the connection spoils texts: remove ${unsafe} from its sql_mode`)
  },

  async warnings(session) {
    const settings = await session.all(DURABILITY)
    const warnings = settings.flatMap(({ name, value, risk }) =>
      value === 1 ? [] : [`the server has ${name} = ${value}: committed data may be lost when ${risk}; set it to 1`],
    )
    return (await session.all(STALE)).length === 0 ? warnings : [...warnings, STALE_READS]
  },

  stillOpen: (serverIds) =>
    textQuery('select cast(id as double) as id from information_schema.processlist where find_in_set(id, ?)', [
      serverIds.join(),
    ]),
}

/** In the one mode, texts that a library writes into a statement can end it; in the other, empty texts are lost. */
const UNSAFE = ['NO_BACKSLASH_ESCAPES', 'EMPTY_STRING_IS_NULL']

/** Sent without limits, because of its comment: MySQL does not know them, and is asked for its version too. */
const SETTINGS = sentWith<{ readonly version: string; readonly modes: string; readonly charsets: string }>(
  'version() as version, @@sql_mode as modes, ' +
    "concat_ws(' ', @@character_set_client, coalesce(@@character_set_results, 'none'), @@character_set_connection) as charsets",
  (number) => `${number}e0`,
  '?',
)

const ALTERING = 'typeCast, rowsAsArray, nestTables nor a mapper of rows or values'

function refuseVersion(version: string, needsUuid: boolean): void {
  const [, major, minor] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\..*mariadb/i.exec(version) ?? []
  if (major === undefined) throw unavailable('the server is not MariaDB: MySQL cannot return the rows that it writes')

  const release = Number(major) * 100 + Number(minor)
  if (release < 1006) throw unavailable(`the server is MariaDB ${major}.${minor}: needed is 10.6 or newer`)
  if (release < 1007 && needsUuid) {
    const fix = 'keep the ids as text, or take 10.7 or newer'
    throw unavailable(`MariaDB ${major}.${minor} has no uuid columns: ${fix}`)
  }
}

/** Whether a node of a Galera cluster reads without waiting for what others have committed. */
const STALE = textQuery<unknown>(
  "select 1 as found from information_schema.session_variables as s where s.variable_name = 'WSREP_ON' and s.variable_value = 'ON' " +
    "and exists (select 1 from information_schema.session_variables as w where w.variable_name = 'WSREP_SYNC_WAIT' " +
    'and cast(w.variable_value as unsigned) & 7 <> 7)',
)
const STALE_READS =
  'connections to the Galera cluster have no wsrep_sync_wait of 7: a change may miss what was just committed on another node; ' +
  'set it for the pool, or for all in the configuration of each node'

/** The settings that decide whether committed data is durable. Without a binary log, how often it is written is 1. */
const DURABILITY = textQuery<{ readonly name: string; readonly value: number; readonly risk: string }>(
  "select 'innodb_flush_log_at_trx_commit' as name, 'it stops' as risk, " +
    'cast(@@global.innodb_flush_log_at_trx_commit as double) as value union all ' +
    "select 'sync_binlog', 'its machine stops', cast(if(@@global.log_bin, @@global.sync_binlog, 1) as double)",
)
