import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { HostThing } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { SqlDialect } from './dialect.ts'
import type { ChosenIdColumns } from './id-columns.ts'
import { fitsColumn } from './id-columns.ts'
import type { Slot } from './query.ts'

/** Moves ids of the host's into and out of their columns. */
export class IdCodec {
  readonly columns: ChosenIdColumns
  readonly #dialect: SqlDialect

  constructor(columns: ChosenIdColumns, dialect: SqlDialect) {
    this.columns = columns
    this.#dialect = dialect
  }

  /** The id itself. @throws TypeError when it does not fit the column type of its kind */
  fitting(kind: HostThing, id: Id): Id {
    const column = this.columns[kind]
    if (fitsColumn(column, id)) return id
    throw new TypeError(
      `${kind} id ${JSON.stringify(id)} does not fit its column: the storage keeps ${kind} ids as ${column}`,
    )
  }

  /** The column type of a kind. */
  type(kind: HostThing): RawBuilder<unknown> {
    return this.#dialect.types.id[this.columns[kind]]
  }

  /** A parameter that is an id, or null where the column may be. */
  given<P, V extends Id | null>(kind: HostThing, slot: Slot<P, V>): RawBuilder<V> {
    const fitting = slot.as((id: Id | null) => (id === null ? null : this.fitting(kind, id)))
    return sql`cast(${fitting} as ${this.#cast(kind)})`
  }

  /** A parameter that is an id of our own: a decimal integer. */
  givenInteger<P>(slot: Slot<P, Id>): RawBuilder<Id> {
    return sql`cast(${slot} as ${this.#dialect.casts.integer})`
  }

  /** A parameter that is a list of ids, for `in`. */
  givenList<P>(kind: HostThing, slot: Slot<P, readonly Id[]>): RawBuilder<Id> {
    const json = slot.as((ids) => JSON.stringify(ids.map((id) => this.fitting(kind, id))))
    return this.#dialect.elements(json, this.#cast(kind))
  }

  #cast(kind: HostThing): RawBuilder<unknown> {
    return this.#dialect.casts.id[this.columns[kind]]
  }
}
