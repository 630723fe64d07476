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

/** A time as our columns keep it: whole milliseconds since 1970. @throws TypeError when the date is none */
export function toMilliseconds(at: Date): number {
  const milliseconds = at.getTime()
  if (Number.isSafeInteger(milliseconds)) return milliseconds
  throw new TypeError('a time to be kept must be a valid Date')
}
