import { command } from '../dialect.ts'
import type { Retry } from '../errors.ts'
import { busy, unavailable } from '../errors.ts'
import type { IdCodec } from '../ids.ts'
import type { Statement } from '../query.ts'
import type { ServerConnection, StatementRunner } from './connection.ts'
import type { ConnectionFacts, LibraryUse } from './mariadb-connection.ts'
import {
  atFirstUse,
  factsIn,
  refuseChains,
  refuseUnfit,
  VERSION,
  whyUnusable,
  withLimitUntil,
  withSettings,
  withSettingsUntil,
} from './mariadb-connection.ts'
import {
  endsTransaction,
  saysAborted,
  saysFull,
  saysLost,
  saysNoSavepoint,
  translateConnectError,
  translateError,
} from './mariadb-errors.ts'
import type {
  Beginning,
  ConnectionState,
  DatabaseRules,
  HostConnection,
  OwnConnection,
  Purpose,
  StatementUse,
} from './rules.ts'
import { UNAWAITED } from './savepoint.ts'

// A host may have set `completion_type`: then a bare COMMIT begins another transaction, or ends the connection.
const COMMIT = command('commit and no chain no release')
const ROLL_BACK = command('rollback and no chain no release')

/**
 * How transactions begin. The level applies to this transaction alone. A transaction that the host left open on the
 * connection is rolled back, because beginning another would commit it. Reads on a snapshot cannot change anything.
 */
const BEGIN: Readonly<Record<Purpose, readonly Statement<unknown>[]>> = {
  changes: [
    ROLL_BACK,
    command('set transaction isolation level read committed'),
    command('start transaction read write'),
  ],
  snapshot: [
    ROLL_BACK,
    command('set transaction isolation level repeatable read'),
    command('start transaction with consistent snapshot, read only'),
  ],
}

/** Distinguishes the rest of a lost transaction from the next transaction on the connection. */
const MARK_LOST = command('savepoint forgelet_lost')
const IS_MARKED = command('rollback to savepoint forgelet_lost')

/**
 * How long reads wait for a table that is being changed, in milliseconds. The runtime retries them within the deadline.
 */
const TABLE_WAIT_MS = 1000

/** MariaDB. */
export class MariadbRules implements DatabaseRules {
  readonly commit: Statement<unknown> = COMMIT
  readonly rollBack: Statement<unknown> = ROLL_BACK
  readonly levels = { changes: 'read committed', snapshot: 'repeatable read' } as const
  readonly losesTransactions = true
  readonly #needsUuid: boolean
  readonly #use: LibraryUse
  /** The facts about the connections of our own pool. The host may change its connections between any two uses. */
  readonly #facts = new WeakMap<object, ConnectionFacts>()
  /**
   * The connections on which a host's transaction was lost. A deadlock ends the whole transaction, and on a connection
   * without autocommit the next statement silently begins another. So it is remembered until the host has ended it.
   */
  readonly #lost = new WeakSet<object>()
  #database: string | undefined

  /** @param ids - how ids are stored: older servers do not support `uuid` */
  constructor(ids: IdCodec, use: LibraryUse) {
    this.#needsUuid = Object.values(ids.columns).includes('uuid')
    this.#use = use
  }

  translate(error: unknown, retry: Retry): unknown {
    if (retry === 'host-transaction' && saysNoSavepoint(error)) return busy(retry, error) // the transaction is lost
    return translateError(error, retry)
  }

  translateConnect(error: unknown): unknown {
    return translateConnectError(error)
  }

  saysFull(error: unknown): boolean {
    return saysFull(error)
  }

  translateCommit(error: unknown): unknown {
    if (saysAborted(error)) return translateError(error, 'call')
    if (saysNoSavepoint(error)) return new TypeError(UNAWAITED, { cause: error })
    return unavailable('the connection was lost while committing: the change may be committed', error, 'unknown')
  }

  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown {
    if (saysNoSavepoint(error)) return new TypeError(UNAWAITED, { cause: error })
    return saysAborted(error) || (rollBack === 'failed' && saysLost(error)) ? translateError(error, 'call') : error
  }

  prepare({ purpose, deadline }: StatementUse): (statement: Statement<unknown>) => string {
    if (purpose === 'host-transaction') return withSettings
    return withSettingsUntil(deadline, purpose === 'reads' ? TABLE_WAIT_MS : Number.POSITIVE_INFINITY)
  }

  /** The library that writes parameters into the text sends each statement alone. */
  frame({ purpose, deadline }: StatementUse): (() => string) | undefined {
    return purpose === 'host-transaction' ? undefined : withLimitUntil(deadline)
  }

  lent(identity: object | undefined): void {
    if (identity !== undefined) this.#facts.delete(identity)
  }

  async refuseServer(connection: ServerConnection): Promise<void> {
    const [[row] = []] = await connection.run([VERSION])
    const version = typeof row === 'object' && row !== null ? Reflect.get(row, 'version') : undefined
    const reason = whyUnusable(String(version), this.#needsUuid)
    if (reason !== undefined) throw unavailable(reason)
  }

  async check({ connection, identity, isHosts }: OwnConnection): Promise<ConnectionState> {
    const kept = identity === undefined ? undefined : this.#facts.get(identity)
    const facts = kept ?? this.#checked(factsIn(await connection.run(atFirstUse(isHosts))))
    if (kept === undefined) this.#keep(identity, isHosts, facts)
    const leftOpen = facts.open === 'yes'
    if (leftOpen) await connection.run([ROLL_BACK])
    return { leftOpen, commitEach: facts.autocommit === 'yes' ? undefined : COMMIT }
  }

  /** Begins together with the first statements if the facts are known, and otherwise with the question for them. */
  async begin(
    { connection, identity, isHosts, sendsTogether }: OwnConnection,
    { purpose, leftOpen }: Beginning,
  ): Promise<ServerConnection> {
    if (sendsTogether && identity !== undefined && this.#facts.has(identity)) {
      return new BeginningTransaction(connection, BEGIN[purpose])
    }

    const facts = this.#checked(factsIn(await connection.run([...atFirstUse(isHosts), ...BEGIN[purpose]])))
    this.#keep(identity, isHosts, facts)
    if (facts.open === 'yes') leftOpen()
    return connection
  }

  /** The library has set the level, and the limits come with each statement. */
  async setUp(connection: ServerConnection): Promise<ServerConnection> {
    return connection
  }

  async refuseUnlessOpen({ connection, runner }: HostConnection): Promise<void> {
    const facts = factsIn(await connection.run(atFirstUse(true)))
    const found = refuseUnfit(facts, this.#use)
    if (this.#database !== undefined && this.#database !== found) {
      throw new TypeError('the transaction is on another database than the storage')
    }
    if (await this.#isLost(runner, facts)) throw busy('host-transaction')
    if (facts.open === 'no' && (facts.autocommit === 'yes' || this.#use.sendsPlainText)) {
      throw new TypeError('the connection is not inside a transaction: begin one on it')
    }
  }

  async failedInHostTransaction(
    runner: StatementRunner & { readonly identity: object },
    error: unknown,
  ): Promise<void> {
    if (!endsTransaction(error)) return

    this.#lost.add(runner.identity)
    await runner.run([MARK_LOST]).catch(() => undefined)
  }

  async warnings(connection: ServerConnection): Promise<readonly string[]> {
    return (await connection.all(DURABILITY)).flatMap(warningsAbout)
  }

  /** A transaction that is open is rolled back before anything else. */
  #keep(identity: object | undefined, isHosts: boolean, facts: ConnectionFacts): void {
    if (identity !== undefined && !isHosts) this.#facts.set(identity, { ...facts, open: 'no' })
  }

  #checked(facts: ConnectionFacts): ConnectionFacts {
    if (this.#use.sendsPlainText) refuseChains(facts)
    const database = refuseUnfit(facts, this.#use)
    this.#database ??= database
    if (database === this.#database) return facts
    throw new TypeError('a connection of the pool is on another database than the storage: the host has changed it')
  }

  async #isLost(runner: StatementRunner & { readonly identity: object }, facts: ConnectionFacts): Promise<boolean> {
    if (!this.#lost.has(runner.identity)) return false
    if (facts.autocommit === 'yes' ? facts.open === 'no' : await isMarked(runner)) return true

    this.#lost.delete(runner.identity)
    return false
  }
}

/** A transaction that begins together with its first statements. */
class BeginningTransaction implements ServerConnection {
  readonly #connection: ServerConnection
  readonly #begin: readonly Statement<unknown>[]
  #hasBegun = false

  constructor(connection: ServerConnection, begin: readonly Statement<unknown>[]) {
    this.#connection = connection
    this.#begin = begin
  }

  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    if (this.#hasBegun) return this.#connection.all(statement)

    const [rows] = await this.batch([statement])
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
    return (rows ?? []) as readonly Row[]
  }

  async batch(
    statements: readonly Statement<unknown>[],
    opening: readonly Statement<unknown>[] = [],
  ): Promise<readonly (readonly unknown[])[]> {
    if (this.#hasBegun) return this.#connection.batch(statements, opening)

    this.#hasBegun = true
    const rows = await this.#connection.batch(statements, [...this.#begin, ...opening])
    return rows.slice(this.#begin.length)
  }

  async run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    if (!this.#hasBegun) await this.batch([])
    return this.#connection.run(statements)
  }
}

async function isMarked(runner: StatementRunner): Promise<boolean> {
  try {
    await runner.run([IS_MARKED])
    return true
  } catch {
    return false
  }
}

/** The settings that decide whether committed data is durable. */
export interface Durability {
  readonly flush: number
  readonly log: 'yes' | 'no'
  readonly sync: number
}

const DURABILITY: Statement<Durability> = {
  sql:
    'select cast(@@global.innodb_flush_log_at_trx_commit as double) as flush, ' +
    "if(@@global.log_bin, 'yes', 'no') as log, cast(@@global.sync_binlog as double) as sync",
  parameters: [],
  returnsRows: true,
}

/**
 * Returns warnings about settings that endanger committed data. They are settings of the whole server, so the library
 * does not change them.
 */
function warningsAbout({ flush, log, sync }: Durability): readonly string[] {
  const warnings: string[] = []
  if (flush !== 1) {
    warnings.push(
      `the server has innodb_flush_log_at_trx_commit = ${flush}: committed data may be lost when it stops; set it to 1`,
    )
  }
  if (log === 'yes' && sync !== 1) {
    warnings.push(
      `the server has sync_binlog = ${sync}: committed data may be lost when its machine stops; set it to 1`,
    )
  }
  return warnings
}
