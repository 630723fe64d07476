import { command } from '../dialect.ts'
import { unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from './call-deadline.ts'
import { MAX_IDLE_S } from './call-deadline.ts'

/** What the storage must know about a connection before it runs statements on it. */
export interface ConnectionFacts {
  /** The database in which names are looked up. */
  readonly database: string | null
  /** The character sets of sent statements, of texts in statements, and of results. */
  readonly client: string
  readonly literals: string
  readonly results: string
  readonly modes: string
  /** Whether each statement is its own transaction. */
  readonly autocommit: 'yes' | 'no'
  /** Whether a transaction is open. */
  readonly open: 'yes' | 'no'
  /** What a bare COMMIT does afterwards. */
  readonly completion: string
}

/** Asks for these facts. */
const FACTS: Statement<ConnectionFacts> = {
  sql:
    'select database() as `database`, @@character_set_client as client, @@character_set_connection as literals, ' +
    '@@character_set_results as results, @@sql_mode as modes, @@completion_type as completion, ' +
    "if(@@autocommit, 'yes', 'no') as autocommit, if(@@in_transaction, 'yes', 'no') as open",
  parameters: [],
  returnsRows: true,
}

/**
 * Ends every transaction on a connection whose process no longer sends anything. Only for connections of our own pool,
 * because it lasts as long as the connection.
 */
const LIMIT_IDLE = command(`set session idle_transaction_timeout = ${MAX_IDLE_S}`)

/** Returns what is sent at the first use of a connection. The answer to the first statement has the facts. */
export function atFirstUse(isHosts: boolean): readonly Statement<unknown>[] {
  return isHosts ? [FACTS] : [FACTS, LIMIT_IDLE]
}

/** Returns the facts that were asked for by the first of several statements. */
export function factsIn([rows = []]: readonly (readonly unknown[])[]): ConnectionFacts {
  const [facts] = rows
  if (facts === undefined) throw unavailable('the server does not return its settings')
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row of FACTS
  return facts as ConnectionFacts
}

/** How a library uses its connections. */
export interface LibraryUse {
  /** Whether it writes parameters into the text of a statement, and ends transactions by a bare COMMIT. */
  readonly sendsPlainText: boolean
}

/**
 * Returns the database of a connection. @throws TypeError if it has none, would not store our texts unchanged, or if a
 * text could end a statement
 */
export function refuseUnfit(
  { database, client, literals, results, modes }: Omit<ConnectionFacts, 'completion'>,
  { sendsPlainText }: LibraryUse = { sendsPlainText: false },
): string {
  const isSet = (mode: string): boolean => modes.split(',').includes(mode)
  if (sendsPlainText && isSet('NO_BACKSLASH_ESCAPES')) {
    throw new TypeError('the driver escapes quotes with a backslash: remove NO_BACKSLASH_ESCAPES from sql_mode')
  }
  if (database === null) {
    throw new TypeError('the connection has no database: name it in the URL, or in the options of the pool')
  }
  const other = [client, literals, results].find((charset) => charset !== 'utf8mb4')
  if (other !== undefined) {
    throw new TypeError(`the connection uses ${other}, which loses text: set the charset of mysql2 to 'utf8mb4'`)
  }
  if (isSet('EMPTY_STRING_IS_NULL')) {
    throw new TypeError('the connection treats empty strings as null: remove EMPTY_STRING_IS_NULL from its sql_mode')
  }
  return database
}

/** Checks `completion_type`. @throws TypeError if a bare COMMIT begins another transaction, or ends the connection */
export function refuseChains({ completion }: ConnectionFacts): void {
  if (completion === 'NO_CHAIN') return
  throw new TypeError(`the connection has completion_type = ${completion}: set it to NO_CHAIN`)
}

/** Asks for the version of the server. */
export const VERSION: Statement<unknown> = { sql: 'select version() as version', parameters: [], returnsRows: true }

/**
 * Returns why a server cannot be used and how to fix that, or undefined if it can be used.
 *
 * @param version - as the server reports it: `10.11.6-MariaDB-log`
 * @param needsUuid - whether ids are stored as `uuid`
 */
export function whyUnusable(version: string, needsUuid: boolean): string | undefined {
  const [, major, minor] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\..*mariadb/i.exec(version) ?? []
  if (major === undefined) return 'the server is not MariaDB: MySQL cannot return the rows that it writes'

  const release = Number(major) * 100 + Number(minor)
  if (release < 1006) return `the server is MariaDB ${major}.${minor}: needed is 10.6 or newer`
  if (release < 1007 && needsUuid)
    return `MariaDB ${major}.${minor} has no uuid columns: keep the ids as text, or take 10.7 or newer`
  return undefined
}

/**
 * The settings for the time of one statement. They override what the host has set on its connection, which keeps its
 * own: the host may have switched foreign keys off for an import, or limited its lists.
 */
const SETTINGS =
  'foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, sql_big_selects = 1, ' +
  'sql_select_limit = 18446744073709551615'

const SET = 'set statement '

/**
 * The step of statement limits, in milliseconds. Each text is prepared once on a connection, so steps keep the number
 * of texts small.
 */
const STEP_MS = 500

/** Prefixes a statement in a host's transaction with our settings. The host's transaction has its own limits. */
export function withSettings({ sql }: Statement<unknown>): string {
  return sql.startsWith(SET) ? sql : `${SET}${SETTINGS} for ${sql}`
}

/**
 * Returns a function that prefixes our own statements with our settings. The statements wait for locks, and run, no
 * longer than the deadline allows. A statement that grows with the data is limited by the deadline alone.
 *
 * @param maxLockWait - how long to wait for one lock at most, in milliseconds
 */
export function withSettingsUntil(deadline: Deadline, maxLockWait: number): (statement: Statement<unknown>) => string {
  return ({ sql, mayTakeLong }) => {
    if (sql.startsWith(SET)) return sql // it has settings of its own

    const wait = inSteps(deadline.lockWait)
    const lockWait = Math.ceil(Math.min(wait, maxLockWait) / 1000) // the server counts whole seconds
    const limit = mayTakeLong === true ? Math.ceil(deadline.longWait / 1000) : wait / 1000
    const limits = `innodb_lock_wait_timeout = ${lockWait}, lock_wait_timeout = ${lockWait}, max_statement_time = ${limit}`
    return `${SET}${limits}, ${SETTINGS} for ${sql}`
  }
}

/**
 * Returns a function that returns the settings for several of our own statements that are sent together: their waits for
 * locks together take no longer than the deadline allows.
 */
export function withLimitUntil(deadline: Deadline): () => string {
  return () => `${SET}max_statement_time = ${inSteps(deadline.lockWait) / 1000} for `
}

function inSteps(wait: number): number {
  return Math.ceil(wait / STEP_MS) * STEP_MS
}
