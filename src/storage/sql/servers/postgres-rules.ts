import { command, textQuery } from '../dialect.ts'
import { unavailable } from '../errors.ts'
import { MAX_IDLE_S, MAX_LOCK_WAIT_MS, MAX_LONG_CALL_MS } from './deadline.ts'
import { MergedStatements } from './merged-statements.ts'
import { asSent, sentWith } from './sent-values.ts'
import type { ServerRules } from './server.ts'
import { failureOf } from './transaction.ts'

/** The oldest version of the server that can be used, as the server itself writes it. */
const MIN_VERSION = 130_000

/** The server ends what waits, or is silent, longer than a call may take. */
function limits(lockWaitMs: number): string {
  return [
    ['lock_timeout', `${lockWaitMs}ms`],
    ['statement_timeout', `${lockWaitMs}ms`],
    ['idle_in_transaction_session_timeout', `${MAX_IDLE_S}s`],
  ]
    .map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`)
    .join(', ')
}

/** A `synchronous_commit` that also waits for standby servers is left unchanged. */
const DURABLE =
  "case when pg_catalog.current_setting('synchronous_commit') in ('off', 'local') " +
  "then pg_catalog.set_config('synchronous_commit', 'on', true) end"

/** All modes of a transaction are explicit, because a role or a database may have other defaults. */
function begin(lockWaitMs: number): string {
  return `begin isolation level read committed read write; select ${limits(lockWaitMs)}, ${DURABLE}`
}

/** A wait is shorter than that after which the server looks for a deadlock: it ends the transaction that finds one. */
function shorterWait(milliseconds: number): string {
  return (
    "pg_catalog.set_config('lock_timeout', cast(pg_catalog.floor(least(" +
    `${milliseconds}, 800 * extract(epoch from cast(pg_catalog.current_setting('deadlock_timeout') as interval))` +
    ')) as text), true)'
  )
}

const GIVE_WAY = textQuery(`select ${shorterWait(MAX_LOCK_WAIT_MS)}`)

/**
 * How long a change without locks waits for one, in milliseconds. The transaction that has locked the head usually writes it, and then the
 * change is refused.
 */
const MAX_WAIT_AT_ONCE_MS = 100

/** Ends what the host may have left open on the connection. Outside of a transaction, ROLLBACK alone is answered with a warning. */
const END_OTHER = 'begin; rollback; '

/** PostgreSQL. */
export const postgresRules: ServerRules = {
  begin: ({ status }, lockWaitMs) => [command(`${status === undefined ? END_OTHER : ''}${begin(lockWaitMs)}`)],
  async commit(connection) {
    if (connection.commit !== undefined) return connection.commit()
    // Behind a statement that has failed, every other fails too.
    const isSound = (await failureOf(connection.run('select 1', []))) === undefined
    await connection.run(isSound ? 'commit' : 'rollback', [])
    return isSound
  },
  lengthen: [command(`set local statement_timeout = ${MAX_LONG_CALL_MS}`)],
  giveWay: [GIVE_WAY],
  merged: new MergedStatements(),
  limitsAtOnce: [{ ...textQuery(`select ${shorterWait(MAX_WAIT_AT_ONCE_MS)}, ${DURABLE}`), needs: 'true' }],

  async refuseUnfit(session) {
    const version = Number(asSent(await session.first(CHECK), ALTERING).version)
    if (version >= MIN_VERSION) return
    throw unavailable(`the server is PostgreSQL ${Math.floor(version / 10_000)}: needed is 13 or newer`)
  },

  async warnings(session) {
    const rows = await session.all(WRONG_SETTINGS)
    return rows.flatMap(({ name }) => WARNINGS[name] ?? [])
  },

  stillOpen: (serverIds) =>
    textQuery(
      'select cast(pid as double precision) as "id" from pg_catalog.pg_stat_activity ' +
        "where cast(pid as text) = any(pg_catalog.string_to_array($1, ','))",
      [serverIds.join()],
    ),
}

const ALTERING =
  'binary, extra_float_digits, type parsers for float8 (701) or text (25), nor a mapper of rows or values'

const CHECK = sentWith<{ readonly version: string }>(
  'pg_catalog.current_setting(\'server_version_num\') as "version", cast(pg_catalog.pg_backend_pid() as text) as "process"',
  (number) => `cast(${number} as double precision)`,
  'cast($1 as text)',
)

/** The settings that decide whether changes are durable and can be made, as far as they are wrong. */
const WRONG_SETTINGS = textQuery<{ readonly name: string }>(
  'select cast(name as text) as "name" from pg_catalog.pg_settings ' +
    "where (name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off') " +
    "or (name = 'server_encoding' and setting <> 'UTF8') " +
    // What a user without pg_monitor may not see of a standby is null.
    "or (name = 'synchronous_standby_names' and setting <> '' and not exists (select from pg_catalog.pg_stat_replication " +
    "where coalesce(sync_state, 'sync') in ('sync', 'quorum'))) order by name",
)

const WARNINGS: Readonly<Record<string, string>> = {
  fsync: 'the server has fsync = off: committed data may be lost when its machine stops; set fsync = on',
  full_page_writes:
    'the server has full_page_writes = off: the database may be damaged when its machine stops; set it on',
  server_encoding:
    'the encoding of the database is not UTF8: changes with texts that it cannot hold fail; move to a database with UTF8',
  synchronous_standby_names:
    'the server waits for a standby in synchronous_standby_names, and none is there: changes end with STORAGE_UNAVAILABLE',
  synchronous_commit:
    'connections have synchronous_commit = off: changes of withTransaction may be lost when the server stops; set it on',
}
