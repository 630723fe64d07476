import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import { busy } from '../server/failures.ts'
import type { ServerConnection } from '../server/server.ts'
import { saysNameIsWrong, translateError } from './driver-errors.ts'
import type { PgClient, PgTypes } from './pg-pool.ts'
import type { StatementNames } from './statement-names.ts'

/** The number of `double precision` in the catalogue of types. */
const DOUBLE_PRECISION = 701

/** How every query reads its columns, whatever parsers the host has set for pg: our columns are texts and doubles. */
export const TYPES: PgTypes = { getTypeParser: (type) => (type === DOUBLE_PRECISION ? Number : String) }

/** How statements run on a client. */
export interface Running {
  /** What the caller must run again after a definite abort. */
  readonly retry: Retry
  /** The deadline of the call. */
  readonly deadline: Deadline
  /**
   * The names of the statements that the connection keeps prepared. Undefined for none, because the host may do
   * anything with its client.
   */
  readonly names?: StatementNames
}

/** A client of pg as a connection. */
export class PostgresConnection<C extends PgClient> implements ServerConnection<C> {
  readonly transaction: C
  readonly deadline: Deadline
  readonly #retry: Retry
  readonly #names: StatementNames | undefined

  /** Wraps a client. @throws TypeError for a client that is set to binary */
  constructor(client: C, { retry, deadline, names }: Running) {
    refuseBinary(client)
    this.transaction = client
    this.deadline = deadline
    this.#retry = retry
    this.#names = names
  }

  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    const { sql: text, parameters, returnsRows, mayTakeLong } = statement
    const name = parameters.length > 0 ? this.#names?.of(text) : undefined
    const query = { text, values: [...parameters], types: TYPES, ...(name !== undefined && { name }) }
    try {
      const { rows } = await this.deadline.ask(() => this.transaction.query(query), mayTakeLong)
      return (returnsRows ? rows : []) as readonly Row[] // unknown data: the row type was inferred from the query
    } catch (error) {
      throw name !== undefined && saysNameIsWrong(error)
        ? this.#withoutNames(error)
        : translateError(error, this.#retry)
    }
  }

  #withoutNames(cause: unknown): unknown {
    this.#names?.giveUp()
    return busy(this.#retry, cause)
  }
}

/** In binary mode pg returns values as texts with bytes missing. */
function refuseBinary(client: PgClient): void {
  if (!('binary' in client) || client.binary !== true) return
  throw new TypeError('a client of pg that is set to binary cannot be used: pg spoils numbers then')
}
