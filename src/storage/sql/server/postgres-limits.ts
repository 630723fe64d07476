import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from './call-deadline.ts'
import { MIN_LOCK_WAIT_MS } from './call-deadline.ts'
import type { ServerConnection } from './connection.ts'

/** The limits of the server in one transaction, in milliseconds. */
interface Limits {
  /** How long to wait for one lock. */
  readonly lock: number
  /** How long one statement may run. It may wait for several locks. */
  readonly statement: number
}

/** How far a limit may differ from the deadline, in milliseconds, before the server is sent a new limit. */
const MAX_DIFFERENCE_MS = 250

/**
 * Keeps the limits of the server in step with the deadline of the call. PostgreSQL applies a limit to each statement,
 * and a lock limit to each lock. The limits are sent again only after a slow statement, so that an ordinary change
 * needs no additional round trip.
 */
export class PostgresLimits implements ServerConnection {
  readonly #connection: ServerConnection
  readonly #deadline: Deadline
  readonly #sendsTogether: boolean
  #set: Limits = { lock: 0, statement: 0 }
  #begun = 0

  /** @param sendsTogether - whether the library sends statements with parameters in one round trip */
  constructor(connection: ServerConnection, deadline: Deadline, sendsTogether: boolean) {
    this.#connection = connection
    this.#deadline = deadline
    this.#sendsTogether = sendsTogether
  }

  /** Returns the limits to begin a transaction with. */
  first(): Limits {
    this.#begun = performance.now()
    this.#set = this.#wanted(false)
    return this.#set
  }

  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    if (this.#sendsTogether) {
      const [rows] = await this.#together([statement], [])
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
      return (rows ?? []) as readonly Row[]
    }

    const wanted = this.#wanted(statement.mayTakeLong === true)
    if (this.#isOtherThan(wanted)) {
      await this.#connection.run([limitsQuery(wanted)])
      this.#set = wanted
    }
    return this.#connection.all(statement)
  }

  run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return this.#connection.run(statements)
  }

  batch(
    statements: readonly Statement<unknown>[],
    opening: readonly Statement<unknown>[] = [],
  ): Promise<readonly (readonly unknown[])[]> {
    return this.#sendsTogether ? this.#together(statements, opening) : this.#oneByOne(statements, opening)
  }

  async #oneByOne(
    statements: readonly Statement<unknown>[],
    opening: readonly Statement<unknown>[],
  ): Promise<readonly (readonly unknown[])[]> {
    const rows = opening.length === 0 ? [] : [...(await this.#connection.run(opening))]
    for (const statement of statements) rows.push(await this.all(statement))
    return rows
  }

  #together(
    statements: readonly Statement<unknown>[],
    opening: readonly Statement<unknown>[],
  ): Promise<readonly (readonly unknown[])[]> {
    const sent = this.#withLimits(statements)
    const rows = this.#connection.batch(sent, opening)
    if (sent.length === statements.length) return rows

    const given = new Set([...opening, ...statements])
    const isGiven = [...opening, ...sent].map((statement) => given.has(statement))
    return rows.then((all) => all.filter((_, index) => isGiven[index]))
  }

  /**
   * Returns statements that are sent together, with those that set the limits: before the first if the deadline asks for
   * others, and before every further lock, because the wait for an earlier lock counts for it too.
   */
  #withLimits(statements: readonly Statement<unknown>[]): readonly Statement<unknown>[] {
    const sent: Statement<unknown>[] = []
    const wanted = this.#wanted(statements.some(({ mayTakeLong }) => mayTakeLong === true))
    if (this.#isOtherThan(wanted)) {
      sent.push(limitsQuery(wanted))
      this.#set = wanted
    }
    for (const [index, statement] of statements.entries()) {
      if (index > 0 && statement.takesLock === true)
        sent.push(limitsUntil(wanted.lock + performance.now() - this.#begun))
      sent.push(statement)
    }
    return sent
  }

  #isOtherThan({ lock, statement }: Limits): boolean {
    return differ(this.#set.lock, lock) || differ(this.#set.statement, statement)
  }

  #wanted(mayTakeLong: boolean): Limits {
    const lock = Math.ceil(this.#deadline.lockWait)
    return { lock, statement: mayTakeLong ? Math.ceil(this.#deadline.longWait) : lock }
  }
}

/** Returns the statements that set limits for the open transaction. */
export function setLimits({ lock, statement }: Limits): readonly Statement<unknown>[] {
  return [command(`set local lock_timeout = ${lock}`), command(`set local statement_timeout = ${statement}`)]
}

/**
 * Returns the same as a single statement, for drivers that run only one at a time.
 *
 * @param also - one more expression to select
 */
export function limitsQuery({ lock, statement }: Limits, also = ''): Statement<unknown> {
  return {
    sql:
      "select pg_catalog.set_config('lock_timeout', cast($1 as text), true), " +
      `pg_catalog.set_config('statement_timeout', cast($2 as text), true)${also}`,
    parameters: [String(lock), String(statement)],
    returnsRows: false,
  }
}

/**
 * Returns the SQL that limits the next statement to what is left of the time for locks, by the clock of the server.
 *
 * @param end - when that time ends, in milliseconds since the transaction began
 */
function limitsUntil(end: number): Statement<unknown> {
  return { sql: LIMITS_UNTIL, parameters: [String(Math.ceil(end))], returnsRows: false }
}

const MILLISECONDS =
  "pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() operator(pg_catalog.-) pg_catalog.transaction_timestamp()) " +
  'operator(pg_catalog.*) 1000'
const LEFT = `greatest(${MIN_LOCK_WAIT_MS}, cast($1 as double precision) operator(pg_catalog.-) (${MILLISECONDS}))`
const LIMITS_UNTIL =
  "select pg_catalog.set_config('lock_timeout', wait, true), pg_catalog.set_config('statement_timeout', wait, true) " +
  `from (select cast(cast(${LEFT} as integer) as text)) as limits(wait)`

function differ(one: number, other: number): boolean {
  return Math.abs(one - other) > MAX_DIFFERENCE_MS
}
