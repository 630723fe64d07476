import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Place } from '../dialect.ts'
import { command } from '../dialect.ts'
import type { Retry } from '../errors.ts'
import { unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Deadline } from './call-deadline.ts'
import { MAX_IDLE_S } from './call-deadline.ts'
import type { ServerConnection } from './connection.ts'
import {
  saysFull,
  saysInsideTransaction,
  translateCommitError,
  translateConnectError,
  translateError,
  translateHostError,
} from './postgres-errors.ts'
import { limitsQuery, PostgresLimits, setLimits } from './postgres-limits.ts'
import type { Beginning, ConnectionState, DatabaseRules, HostConnection, OwnConnection, Purpose } from './rules.ts'

const ROLL_BACK = command('rollback')

/** A connection on which nothing was left open. */
const CLEAN: ConnectionState = { leftOpen: false }

// A ROLLBACK outside a transaction would work, but the server logs a warning for each.
const PROBE = command('do $$ begin rollback; end $$')

// Outside a transaction savepoints do not exist, and in a failed transaction only its end can run.
const IN_TRANSACTION = [command('savepoint forgelet'), command('release savepoint forgelet')]

/** A `synchronous_commit` that also waits for standby servers is left unchanged. */
const DURABLE =
  "case when pg_catalog.current_setting('synchronous_commit') in ('off', 'local') " +
  "then pg_catalog.set_config('synchronous_commit', 'on', true) end"

/** Ends a transaction whose process no longer sends anything. */
const LIMIT_IDLE = command(`set local idle_in_transaction_session_timeout = '${MAX_IDLE_S}s'`)

/** The same as an expression. */
const LIMITED_IDLE = `pg_catalog.set_config('idle_in_transaction_session_timeout', '${MAX_IDLE_S}s', true)`

/**
 * How transactions begin. All modes are explicit, because a role or a database may have other defaults. Reads on a
 * snapshot cannot change anything.
 */
const BEGIN: Readonly<Record<Purpose, readonly Statement<unknown>[]>> = {
  changes: [command('begin isolation level read committed read write'), LIMIT_IDLE, command(`select ${DURABLE}`)],
  snapshot: [command('begin isolation level repeatable read read only'), LIMIT_IDLE],
}

/**
 * Checks that the transaction begins with this message: a BEGIN inside another transaction only causes a warning, and
 * the COMMIT that follows would commit what the host left open there.
 */
const IS_NEW: Statement<{ readonly isNew: string }> = {
  sql: 'select cast(pg_catalog.now() operator(pg_catalog.=) pg_catalog.statement_timestamp() as text) as "isNew"',
  parameters: [],
  returnsRows: true,
}

/** What a connection reaches under our names. */
interface DatabaseIdentity {
  readonly database: string
  /** The number of our ledger in the catalogue; null if it does not exist, or if the `search_path` leads elsewhere. */
  readonly ledger: string | null
  /** The version of the server, such as 150004. */
  readonly version: string
}

/** The oldest version of the server that can be used, as the server itself writes it. */
const MIN_VERSION = 130_000

/** PostgreSQL. */
export class PostgresRules implements DatabaseRules {
  readonly commit: Statement<unknown> = command('commit')
  readonly rollBack: Statement<unknown> = ROLL_BACK
  readonly levels = { changes: 'read committed', snapshot: 'repeatable read' } as const
  readonly losesTransactions = false
  readonly #homeQuery: Statement<DatabaseIdentity>
  #home: DatabaseIdentity | undefined

  constructor(place: Place) {
    this.#homeQuery = identityQuery(place)
  }

  translate(error: unknown, retry: Retry): unknown {
    return translateError(error, retry)
  }

  translateConnect(error: unknown): unknown {
    return translateConnectError(error)
  }

  saysFull(error: unknown): boolean {
    return saysFull(error)
  }

  translateCommit(error: unknown): unknown {
    return translateCommitError(error)
  }

  /** If even the ROLLBACK fails, the server is unreachable. */
  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown {
    if (rollBack === 'done' || isForgeError(error) || error instanceof TypeError) return translateHostError(error)
    return unavailable('the connection to the PostgreSQL server was lost', error)
  }

  /** The limits of a statement are those of its transaction. */
  prepare(): undefined {
    return undefined
  }

  frame(): undefined {
    return undefined
  }

  lent(): void {
    // Nothing is kept that the host's code could change.
  }

  async refuseServer(): Promise<void> {
    // The version comes with what the connection reaches.
  }

  /** Also records what the storage's own connections reach, once the tables exist. */
  check(own: OwnConnection): MaybePromise<ConnectionState> {
    return own.status === 'outside' && this.#home !== undefined ? CLEAN : this.#check(own)
  }

  async #check({ connection, status, isHosts }: OwnConnection): Promise<ConnectionState> {
    const leftOpen = status === undefined ? isHosts && (await isInsideTransaction(connection)) : status === 'inside'
    if (leftOpen) await connection.run([ROLL_BACK])
    if (this.#home === undefined) await this.#learnHome(connection)
    return { leftOpen }
  }

  begin({ connection, sendsTogether }: OwnConnection, beginning: Beginning): MaybePromise<ServerConnection> {
    const transaction = new PostgresTransaction(connection, beginning, sendsTogether)
    return sendsTogether ? transaction : transaction.begin().then(() => transaction)
  }

  async setUp(connection: ServerConnection, deadline: Deadline): Promise<ServerConnection> {
    const limits = new PostgresLimits(connection, deadline, false)
    await connection.run([limitsQuery(limits.first(), `, ${DURABLE}, ${LIMITED_IDLE}`)])
    return limits
  }

  async refuseUnlessOpen({ connection, beside }: HostConnection): Promise<void> {
    if (this.#home === undefined) {
      await connection.run(IN_TRANSACTION)
      return
    }

    const answers = await connection.run([...IN_TRANSACTION, this.#homeQuery])
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row of the query
    const theirs = answers.at(-1)?.[0] as DatabaseIdentity | undefined
    if (!isSame(this.#home, theirs)) await beside((own) => this.#learnHome(own)) // our tables may have been recreated
    refuseElsewhere(this.#home, theirs)
  }

  async failedInHostTransaction(): Promise<void> {
    // The server itself remembers that a transaction has failed.
  }

  async warnings(connection: ServerConnection): Promise<readonly string[]> {
    const settings = await connection.all(DURABILITY)
    return settings.filter(({ setting }) => setting === 'off').flatMap(({ name }) => WARNINGS[name] ?? [])
  }

  async #learnHome(own: ServerConnection): Promise<void> {
    const [home] = await own.all(this.#homeQuery)
    if (home !== undefined) refuseOld(home)
    if (home !== undefined && home.ledger !== null) this.#home = home
  }
}

/**
 * One of our own transactions. It begins together with its first statements, if the library can send these together and
 * none of them changes data: if the server refuses the BEGIN, it runs the statements behind it outside a transaction.
 */
class PostgresTransaction implements ServerConnection {
  readonly #connection: ServerConnection
  readonly #beginning: Beginning
  readonly #limits: PostgresLimits
  #hasBegun = false

  constructor(connection: ServerConnection, beginning: Beginning, sendsTogether: boolean) {
    this.#connection = connection
    this.#beginning = beginning
    this.#limits = new PostgresLimits(connection, beginning.deadline, sendsTogether)
  }

  /** Begins the transaction. One that the host left open on the connection is rolled back. */
  async begin(): Promise<void> {
    if ((await this.#begins([])) === undefined) await this.#beginAgain()
  }

  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    if (this.#hasBegun) return this.#limits.all(statement)

    const [rows] = await this.batch([statement])
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
    return (rows ?? []) as readonly Row[]
  }

  batch(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return this.#hasBegun ? this.#limits.batch(statements) : this.#beginWith(statements)
  }

  async #beginWith(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    if (statements.some(changesData)) {
      await this.begin()
      return this.#limits.batch(statements)
    }
    const rows = await this.#begins(statements)
    if (rows !== undefined) return rows

    await this.#beginAgain() // what was answered came from inside the transaction that the host left open
    return this.#limits.batch(statements)
  }

  async run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    if (!this.#hasBegun) await this.begin()
    return this.#connection.run(statements)
  }

  async #beginAgain(): Promise<void> {
    this.#beginning.leftOpen()
    await this.#connection.run([ROLL_BACK])
    await this.#begins([])
  }

  /** Begins with these statements, and returns their rows. Undefined if the connection was inside another transaction. */
  async #begins(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[] | undefined> {
    this.#hasBegun = true
    const opening = [...BEGIN[this.#beginning.purpose], ...setLimits(this.#limits.first()), IS_NEW]
    try {
      const answers = await this.#limits.batch(statements, opening)
      const isNew = answers[opening.length - 1]?.[0]
      return isRow(isNew, 'isNew', 'false') ? undefined : answers.slice(opening.length)
    } catch (error) {
      if (saysInsideTransaction(error)) return undefined
      throw error
    }
  }
}

function changesData({ sql, takesLock }: Statement<unknown>): boolean {
  return takesLock !== true && !/^select\b/.test(sql)
}

function isRow(row: unknown, name: string, value: string): boolean {
  return typeof row === 'object' && row !== null && Reflect.get(row, name) === value
}

/**
 * Returns whether a connection is inside a transaction. It costs a round trip, and returns false if the role may not
 * use PL/pgSQL.
 */
async function isInsideTransaction(connection: ServerConnection): Promise<boolean> {
  try {
    await connection.run([PROBE])
    return false
  } catch (error) {
    if (saysInsideTransaction(error)) return true
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error
    return false
  }
}

/** Returns the query for what a connection reaches. */
function identityQuery({ schema, prefix }: Place): Statement<DatabaseIdentity> {
  const ledger = `"${prefix}${'ledger' satisfies keyof Tables}"`
  return {
    sql:
      'select cast(pg_catalog.current_database() as text) as "database", ' +
      'cast(cast(pg_catalog.to_regclass($1) as oid) as text) as "ledger", ' +
      'cast(pg_catalog.current_setting(\'server_version_num\') as text) as "version"',
    parameters: [schema === undefined ? ledger : `"${schema}".${ledger}`],
    returnsRows: true,
  }
}

function refuseOld({ version }: DatabaseIdentity): void {
  if (Number(version) >= MIN_VERSION) return
  throw unavailable(`the server is PostgreSQL ${Math.floor(Number(version) / 10_000)}: needed is 13 or newer`)
}

function isSame(one: DatabaseIdentity | undefined, other: DatabaseIdentity | undefined): boolean {
  return one?.database === other?.database && one?.ledger === other?.ledger
}

/** Checks that a transaction reaches the storage's tables. @throws TypeError if it does not, with what to do */
function refuseElsewhere(home: DatabaseIdentity | undefined, theirs: DatabaseIdentity | undefined): void {
  if (home === undefined || isSame(home, theirs)) return
  if (home.database !== theirs?.database) {
    throw new TypeError('the transaction is on another database than the storage')
  }
  throw new TypeError('the transaction uses other tables than the storage: its search_path differs')
}

/** The settings that decide whether committed data is durable. */
const DURABILITY: Statement<{ readonly name: string; readonly setting: string }> = {
  sql:
    'select cast(name as text) as "name", cast(setting as text) as "setting" from pg_catalog.pg_settings ' +
    "where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name",
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
