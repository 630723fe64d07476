import type { MaybePromise } from '../../../schema/steps.ts'
import type { Statement } from '../query.ts'
import type { Session } from '../session.ts'
import { translateError } from '../sqlite/driver-errors.ts'
import type { DurableObjectDatabase } from './durable-object-database.ts'

/** The one connection a Durable Object has. The runtime keeps statements prepared, by their text. */
export class DurableObjectSession implements Session {
  readonly #database: DurableObjectDatabase

  constructor(database: DurableObjectDatabase) {
    this.#database = database
  }

  all<Row>({ sql, parameters }: Statement<Row>): readonly Row[] {
    try {
      const rows: readonly unknown[] = this.#database.sql.exec(sql, ...parameters).toArray()
      return rows as readonly Row[] // unknown data: the shape of a row was inferred from the query that asked for it
    } catch (error) {
      throw translateError(error, 'call')
    }
  }

  /** Nothing else runs meanwhile: what the host may not do is refused where it calls. */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return work()
  }
}
