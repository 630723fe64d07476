import type { AliasedRawBuilder, RawBuilder, SelectType, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from './context.ts'
import type { Columns } from './ids.ts'
import { HOST_THINGS } from './ids.ts'
import type { Slot, SqlValue } from './query.ts'
import type { Tables } from './schema/tables.ts'
import { TABLE_DESCRIPTIONS, valueType } from './schema/tables.ts'

/** A row of a table as statements return it, by the names of records: `pinnedAt` is the column `pinned_at`. */
export type Row<T extends keyof Tables> = {
  readonly [C in keyof Tables[T] & string as Camel<C>]: SelectType<Tables[T][C]>
}

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S

type Field<T extends keyof Tables> = keyof Row<T> & string

/** Columns as a query selects them. */
type Selected<T extends keyof Tables, F extends Field<T>> = { [N in F]: AliasedRawBuilder<Row<T>[N], N> }[F]

/** The parameters for columns. */
type Given<P, T extends keyof Tables, F extends Field<T>> = (field: F) => Slot<P, Parameter<Row<T>[F]>>

/** A time is a `Date`, and is stored as an integer. */
type Parameter<V> = V extends number ? number | Date : V

/** Columns as a query writes them. */
type Written<T extends keyof Tables, F extends Field<T>> = {
  [C in keyof Tables[T] & string as Camel<C> extends F ? C : never]: RawBuilder<SelectType<Tables[T][C]>>
}

/** Reads, compares and writes the columns of one table, each by its type in the description of the table. */
export interface Fields<T extends keyof Tables> {
  /** Selects columns. */
  read<F extends Field<T>>(...fields: readonly F[]): readonly Selected<T, F>[]
  /** The condition that columns have the values of parameters of the same names. */
  are<P, F extends Field<T>>(given: Given<P, T, F>, ...fields: readonly F[]): RawBuilder<SqlBool>
  /** The values of parameters, for the columns of the same names. */
  written<P, F extends Field<T>>(given: Given<P, T, F>, ...fields: readonly F[]): Written<T, F>
}

/** Returns the columns of a table. */
export function fieldsOf<T extends keyof Tables>(context: SqlContext, table: T): Fields<T>
export function fieldsOf({ columns, ids }: SqlContext, table: keyof Tables): unknown {
  const typeOf = (field: string): string => valueType(TABLE_DESCRIPTIONS[table].columns[columnOf(field)] ?? 'text')

  function bound<P>(field: string, slot: Slot<P, SqlValue | Date>): RawBuilder<unknown> {
    const type = typeOf(field)
    const kind = HOST_THINGS.find((thing) => thing === type)
    if (kind !== undefined) return ids.given(kind, slot.as(idIn))
    if (type === 'own id') return ids.givenInteger(slot.as(String))
    return sql`${slot.as((value) => (value instanceof Date ? toMilliseconds(value) : value))}`
  }

  return {
    read: (...fields: readonly string[]) =>
      fields.map((field) => readingOf(columns, columnOf(field), typeOf(field)).as(field)),
    are<P>(given: (field: string) => Slot<P, SqlValue | Date>, ...fields: readonly string[]) {
      const conditions = fields.map((field) => sql`${sql.ref(columnOf(field))} = ${bound(field, given(field))}`)
      return sql.join(conditions, sql` and `)
    },
    written: <P>(given: (field: string) => Slot<P, SqlValue | Date>, ...fields: readonly string[]) =>
      Object.fromEntries(fields.map((field) => [columnOf(field), bound(field, given(field))])),
  }
}

/** Reads a column by the type of its values. */
export function readingOf(columns: Columns, column: string, type: string): RawBuilder<unknown> {
  if (type === 'key' || type === 'text') return sql.ref(column)
  return type === 'integer' ? columns.number(column) : columns.id(column)
}

/** Returns the name of a column by that of its field. */
function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns a time as our columns store it: whole milliseconds since 1970. @throws TypeError if the date is invalid */
export function toMilliseconds(at: Date): number {
  const milliseconds = at.getTime()
  if (Number.isSafeInteger(milliseconds)) return milliseconds
  throw new TypeError('a time must be a valid Date')
}

function idIn(value: SqlValue | Date): string | null {
  return typeof value === 'string' ? value : null
}
