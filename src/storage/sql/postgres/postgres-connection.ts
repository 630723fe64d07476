import type { SqlValue, Statement } from '../query.ts'
import type { Retry } from '../server/failures.ts'
import type { ServerConnection } from '../server/server.ts'
import { translateError } from './driver-errors.ts'
import type { PgClient, PgTypes } from './pg-pool.ts'

/** The number of `double precision` in the catalogue of types. */
const DOUBLE_PRECISION = 701

/** How every query reads its columns, whatever parsers the host has set for all of pg: ours are texts and doubles. */
const TYPES: PgTypes = { getTypeParser: (type) => (type === DOUBLE_PRECISION ? Number : String) }

/** A client of pg's as a connection. */
export class PostgresConnection<C extends PgClient> implements ServerConnection<C> {
  readonly transaction: C
  readonly #retry: Retry

  /** @param retry - what a definite abort asks the caller to try again */
  constructor(client: C, retry: Retry) {
    this.transaction = client
    this.#retry = retry
  }

  async all<Row>({ sql, parameters, returnsRows }: Statement<Row>): Promise<readonly Row[]> {
    try {
      const rows = await this.#ask(sql, parameters)
      return (returnsRows ? rows : []) as readonly Row[] // unknown data: the shape of a row was inferred from its query
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  async #ask(text: string, parameters: readonly SqlValue[]): Promise<readonly unknown[]> {
    const { rows } = await this.transaction.query({ text, values: [...parameters], types: TYPES })
    return rows
  }
}
