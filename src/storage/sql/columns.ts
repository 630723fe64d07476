import type { Expression, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../schema/ids.ts'
import type { SqlDialect } from './dialect.ts'

/** Reads columns so that no driver, however its host has configured it, rounds the values or returns them as text. */
export class Columns {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** Reads an id from a column of any type, as text, because drivers round large integers. */
  id(column: string): RawBuilder<Id> {
    return sql`cast(${sql.ref(column)} as ${this.#dialect.casts.text})`
  }

  /** Same as `id`, for a column that may be null. */
  idOrNull(column: string): RawBuilder<Id | null> {
    return sql`cast(${sql.ref(column)} as ${this.#dialect.casts.text})`
  }

  /** Reads one of our integers, within what a double represents exactly. */
  number(column: string): RawBuilder<number> {
    return this.#dialect.number(sql.ref(column))
  }

  /** Same as `number`, for a column that may be null. */
  numberOrNull(column: string): RawBuilder<number | null> {
    return this.#dialect.number(sql.ref(column))
  }

  /** Counts the rows. */
  count(): RawBuilder<number> {
    const all: Expression<number> = sql<number>`count(*)`
    return this.#dialect.number(all)
  }
}

/** Returns a time as our columns store it: whole milliseconds since 1970. @throws TypeError if the date is invalid */
export function toMilliseconds(at: Date): number {
  const milliseconds = at.getTime()
  if (Number.isSafeInteger(milliseconds)) return milliseconds
  throw new TypeError('a time must be a valid Date')
}
