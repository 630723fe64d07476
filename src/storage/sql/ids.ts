import type { Expression, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../schema/ids.ts'
import type { HostThing } from '../../schema/records.ts'
import type { IdColumn, SqlDialect } from './dialect.ts'
import type { Slot } from './query.ts'

/**
 * Column types of the host's ids, per kind, so that the host can join its tables with ours. They are stored in the
 * ledger; a later mismatch is refused. Default: `bigint` for all four.
 */
export interface IdColumns {
  readonly user?: IdColumn | undefined
  readonly organization?: IdColumn | undefined
  readonly repository?: IdColumn | undefined
  readonly issue?: IdColumn | undefined
}

/** The kinds of objects of the host, each with ids of its own. */
export const HOST_THINGS: readonly HostThing[] = ['user', 'organization', 'repository', 'issue']

/** The column type of every kind of id. */
export type ChosenIdColumns = { readonly [K in HostThing]: IdColumn }

/**
 * Maps each column type to whether an id fits it. Integers must be canonical: an integer column would turn `0042` into
 * 42.
 */
const FITS: { readonly [C in IdColumn]: (id: Id) => boolean } = {
  bigint: isInt64,
  uuid: (id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id),
  text: () => true,
}

/** Fills in the defaults. @throws TypeError if a column type is invalid */
export function chooseIdColumns(ids: IdColumns = {}): ChosenIdColumns {
  const { user = 'bigint', organization = 'bigint', repository = 'bigint', issue = 'bigint' } = ids
  const chosen = { user, organization, repository, issue }
  for (const [kind, column] of Object.entries(chosen)) {
    if (!Object.hasOwn(FITS, column)) throw new TypeError(`ids.${kind} must be 'bigint', 'uuid' or 'text'`)
  }
  return chosen
}

function isInt64(id: Id): boolean {
  return toSafeInteger(id) !== undefined || (/^-?[1-9]\d{0,18}$/.test(id) && `${BigInt.asIntN(64, BigInt(id))}` === id)
}

/** Returns the value of an id that is a decimal integer and exact as a number; undefined for other ids. */
function toSafeInteger(id: Id): number | undefined {
  const value = Number(id)
  return Number.isSafeInteger(value) && String(value) === id ? value : undefined
}

/** Converts ids of the host for writing and reading their columns. */
export class IdCodec {
  readonly columns: ChosenIdColumns
  readonly #dialect: SqlDialect

  constructor(columns: ChosenIdColumns, dialect: SqlDialect) {
    this.columns = columns
    this.#dialect = dialect
  }

  /** The column type of each kind, as the ledger notes it and `forgelet schema` takes it. */
  get text(): string {
    return HOST_THINGS.map((kind) => `${kind}=${this.columns[kind]}`).join(',')
  }

  /** Returns whether an id fits the column type of its kind. */
  fits(kind: HostThing, id: Id): boolean {
    return FITS[this.columns[kind]](id)
  }

  /** Returns the id itself. @throws TypeError if it does not fit the column type of its kind */
  fitting(kind: HostThing, id: Id): Id {
    if (this.fits(kind, id)) return id
    const column = this.columns[kind]
    throw new TypeError(
      `${kind} id ${JSON.stringify(id)} does not fit its column: the storage stores ${kind} ids as ${column}`,
    )
  }

  /** Returns the column type of a kind. */
  type(kind: HostThing): RawBuilder<unknown> {
    return this.#dialect.types.id[this.columns[kind]]
  }

  /** Returns a parameter that is an id, or null if the column may be null. */
  given<P, V extends Id | null>(kind: HostThing, slot: Slot<P, V>): RawBuilder<V> {
    const asNumber = this.#dialect.bindsIntegersAsNumbers && this.columns[kind] === 'bigint'
    const fitting = (id: Id): Id => this.fitting(kind, id)
    const bind = asNumber ? (id: Id) => toSafeInteger(id) ?? fitting(id) : fitting
    const bound = slot.as((id: Id | null) => (id === null ? null : bind(id)))
    return this.#given<V>(bound, this.#cast(kind))
  }

  /** Returns a parameter that is a text of the host, such as a name. */
  givenText<P>(slot: Slot<P, string>): RawBuilder<string> {
    return this.#given(slot, this.#dialect.casts.text)
  }

  /** Returns a parameter that is one of our own ids: a decimal integer. */
  givenInteger<P>(slot: Slot<P, Id>): RawBuilder<Id> {
    return sql`cast(${slot} as ${this.#dialect.casts.integer})`
  }

  /** Returns a parameter that is a list of ids, for `in`. */
  givenList<P>(kind: HostThing, slot: Slot<P, readonly Id[]>): RawBuilder<Id> {
    const json = slot.as((ids) => JSON.stringify(ids.map((id) => this.fitting(kind, id))))
    return this.#dialect.elements(json, this.#cast(kind))
  }

  #given<V>(bound: Expression<unknown>, type: RawBuilder<unknown>): RawBuilder<V> {
    return type === this.#dialect.uncast ? sql`${bound}` : sql`cast(${bound} as ${type})`
  }

  #cast(kind: HostThing): RawBuilder<unknown> {
    return this.#dialect.casts.id[this.columns[kind]]
  }
}

/** Reads columns so that no driver, however its host has configured it, rounds the values or returns them as text. */
export class Columns {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** Reads an id from a column of any type, as text, because drivers round large integers. */
  id<V extends Id | null = Id>(column: string): RawBuilder<V> {
    return sql`cast(${sql.ref(column)} as ${this.#dialect.casts.text})`
  }

  /** Reads one of our integers, within what a double represents exactly. */
  number<V extends number | null = number>(column: string): RawBuilder<V> {
    return this.#dialect.number(sql.ref(column))
  }

  /** Counts the rows. */
  count(): RawBuilder<number> {
    return this.#dialect.number(sql`count(*)`)
  }
}
