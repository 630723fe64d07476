import type { Statement } from '../query.ts'
import { unavailable } from '../server/failures.ts'
import { ask, askAsText, askBefore } from './mysql-connection.ts'
import type { MysqlConnection } from './mysql-pool.ts'

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
}

export const VERSION: Statement<{ readonly version: string }> = {
  sql: 'select version() as version',
  parameters: [],
  returnsRows: true,
}

export const FACTS: Statement<ConnectionFacts> = {
  sql:
    'select database() as `database`, @@character_set_client as client, @@character_set_connection as literals, ' +
    '@@character_set_results as results, @@sql_mode as modes, ' +
    "if(@@autocommit, 'yes', 'no') as autocommit, if(@@in_transaction, 'yes', 'no') as open",
  parameters: [],
  returnsRows: true,
}

/** Returns the facts about a connection. @throws the errors of mysql2 */
export async function factsOf(connection: MysqlConnection): Promise<ConnectionFacts> {
  return onlyOne(await askAsText(connection, FACTS))
}

/** Returns the facts and, in the same round trip, runs statements afterwards. @throws the errors of mysql2 */
export async function factsBefore(connection: MysqlConnection, statements: string): Promise<ConnectionFacts> {
  return onlyOne(await askBefore(connection, FACTS, statements))
}

function onlyOne([facts]: readonly ConnectionFacts[]): ConnectionFacts {
  if (facts === undefined) throw unavailable('the server does not answer with its settings')
  return facts
}

/**
 * Checks the version of the server. @throws ForgeError `STORAGE_UNAVAILABLE` for a server that does not support our
 * tables
 */
export async function refuseOtherServers(connection: MysqlConnection, needsUuid: boolean): Promise<void> {
  const [row] = await ask(connection, VERSION)
  const reason = whyUnusable(String(row?.version), needsUuid)
  if (reason !== undefined) throw unavailable(reason)
}

/**
 * Returns why a server cannot be used and how to fix that, or undefined if it can be used.
 *
 * @param version - as the server reports it: `10.11.6-MariaDB-log`
 * @param needsUuid - whether ids are stored as `uuid`
 */
export function whyUnusable(version: string, needsUuid: boolean): string | undefined {
  const [, major, minor] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\..*mariadb/i.exec(version) ?? []
  if (major === undefined) return 'the server is no MariaDB: MySQL itself cannot give back the rows it writes'

  const release = Number(major) * 100 + Number(minor)
  if (release < 1006) return `the server is MariaDB ${major}.${minor}: needed is 10.6 or newer`
  if (release < 1007 && needsUuid)
    return `MariaDB ${major}.${minor} has no uuid columns: keep the ids as text, or take 10.7 or newer`
  return undefined
}

/** Returns the database of a connection. @throws TypeError if it has none, or would not store our texts unchanged */
export function refuseUnfit({ database, client, literals, results, modes }: ConnectionFacts): string {
  if (database === null) {
    throw new TypeError('the connection has no database: name it in the URL, or in the options of the pool')
  }
  const other = [client, literals, results].find((charset) => charset !== 'utf8mb4')
  if (other !== undefined) {
    throw new TypeError(`the connection speaks ${other}, which loses texts: set the charset of mysql2 to 'utf8mb4'`)
  }
  if (modes.split(',').includes('EMPTY_STRING_IS_NULL')) {
    throw new TypeError('the connection takes empty texts for null: take EMPTY_STRING_IS_NULL out of its sql_mode')
  }
  return database
}
