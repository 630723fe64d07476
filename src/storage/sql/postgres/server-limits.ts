import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Queryable } from '../session.ts'

/** The limits of the server in one transaction, in milliseconds. */
export interface Limits {
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
export class ServerLimits {
  readonly #connection: Queryable
  readonly #deadline: Deadline
  #set: Limits = { lock: 0, statement: 0 }

  constructor(connection: Queryable, deadline: Deadline) {
    this.#connection = connection
    this.#deadline = deadline
  }

  /** Returns the limits to begin a transaction with. */
  first(): Limits {
    this.#set = this.#wanted(false)
    return this.#set
  }

  /** Runs a statement of the transaction within the deadline. */
  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    const wanted = this.#wanted(statement.mayTakeLong === true)
    if (differ(this.#set.lock, wanted.lock) || differ(this.#set.statement, wanted.statement)) {
      await this.#connection.all(limitsQuery(wanted))
      this.#set = wanted
    }
    return this.#connection.all(statement)
  }

  #wanted(mayTakeLong: boolean): Limits {
    const lock = Math.ceil(this.#deadline.lockWait)
    return { lock, statement: mayTakeLong ? Math.ceil(this.#deadline.longWait) : lock }
  }
}

/** Returns the SQL that sets limits for the open transaction. */
export function setLimits({ lock, statement }: Limits): string {
  return `set local lock_timeout = ${lock}; set local statement_timeout = ${statement}`
}

/** Returns the same as a single statement, for drivers that run only one at a time. */
function limitsQuery({ lock, statement }: Limits): Statement<unknown> {
  return {
    sql:
      "select pg_catalog.set_config('lock_timeout', cast($1 as text), true), " +
      "pg_catalog.set_config('statement_timeout', cast($2 as text), true)",
    parameters: [String(lock), String(statement)],
    returnsRows: false,
  }
}

function differ(one: number, other: number): boolean {
  return Math.abs(one - other) > MAX_DIFFERENCE_MS
}
