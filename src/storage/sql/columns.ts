import type { Expression, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../schema/ids.ts'
import type { SqlDialect } from './dialect.ts'

/** How columns are read, so that no driver, however its host has set it up, rounds or quotes what it gives. */
export class Columns {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** An id, out of a column of any type: as text, since drivers round large integers. */
  id(column: string): RawBuilder<Id> {
    return sql`cast(${sql.ref(column)} as ${this.#dialect.casts.text})`
  }

  /** As `id`, of a column that may be null. */
  idOrNull(column: string): RawBuilder<Id | null> {
    return sql`cast(${sql.ref(column)} as ${this.#dialect.casts.text})`
  }

  /** A whole number of our own, within what a double keeps exactly. */
  number(column: string): RawBuilder<number> {
    return this.#dialect.number(sql.ref(column))
  }

  /** How many rows. */
  count(): RawBuilder<number> {
    const all: Expression<number> = sql<number>`count(*)`
    return this.#dialect.number(all)
  }
}
