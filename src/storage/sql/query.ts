import type { Compilable, CompiledQuery, Expression, OperationNode } from 'kysely'
import { ValueNode } from 'kysely'

/** The values that may be bound to a statement. Every driver accepts these and handles them the same way. */
export type SqlValue = string | number | null | Uint8Array

/** A statement ready to run. `Row` is the shape of the rows it returns. */
export interface Statement<Row> {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /** Some drivers refuse to collect rows from a statement that returns none. */
  readonly returnsRows: boolean
  /**
   * The statement states itself what it locks. It is never turned into a locking read, which would wait for uncommitted
   * rows.
   */
  readonly asWritten?: true
  /** Only takes the lock of a row, and waits for others that have it. It may create the row of a head. */
  readonly takesLock?: true
  /** The duration grows with the data that the statement changes, so it is not limited as other statements are. */
  readonly mayTakeLong?: true
  /** Carries the type only; never present at run time. */
  readonly row?: Row
}

/** A query that is compiled once. Called with its parameters, it returns a statement ready to run. */
export type Query<Parameters, Row> = (parameters: Parameters) => Statement<Row>

/** Marks the place of a parameter, by its name, in a query that is being built. */
export type QueryValues<Parameters> = <K extends keyof Parameters>(name: K) => Slot<Parameters, Parameters[K]>

/** The place of one parameter in a query, and how its value is computed from the parameters. */
export class Slot<Parameters, Value> implements Expression<Value> {
  readonly pick: (parameters: Parameters) => Value

  constructor(pick: (parameters: Parameters) => Value) {
    this.pick = pick
  }

  get expressionType(): Value | undefined {
    return undefined
  }

  /** Returns the same place with the value converted by `convert`. */
  as<Converted>(convert: (value: Value) => Converted): Slot<Parameters, Converted> {
    return new Slot((parameters) => convert(this.pick(parameters)))
  }

  toOperationNode(): OperationNode {
    return ValueNode.create(this)
  }
}

/**
 * Defines a query that is compiled once, at its first use.
 *
 * @param build - builds the query; `given('userId')` marks where that parameter goes
 */
export function defineQuery<Parameters, Row>(
  build: (given: QueryValues<Parameters>) => Compilable<Row>,
): Query<Parameters, Row> {
  let bind: Query<Parameters, Row> | undefined

  return (parameters) => {
    bind ??= binder<Parameters, Row>(build((name) => new Slot((all) => all[name])).compile())
    return bind(parameters)
  }
}

/** Returns the same query, which is never turned into a locking read. */
export function asWritten<Parameters, Row>(query: Query<Parameters, Row>): Query<Parameters, Row> {
  return (parameters) => ({ asWritten: true, ...query(parameters) })
}

/** Returns the same query, which only takes the lock of a row. */
export function takesLock<Parameters, Row>(query: Query<Parameters, Row>): Query<Parameters, Row> {
  return (parameters) => ({ takesLock: true, ...query(parameters) })
}

/** Returns the same query, whose duration grows with the number of its rows. */
export function mayTakeLong<Parameters, Row>(query: Query<Parameters, Row>): Query<Parameters, Row> {
  return (parameters) => ({ mayTakeLong: true, ...query(parameters) })
}

/** Compiles a query that already contains its parameters. Used for shapes that are built for each call. */
export function compileStatement<Row>(query: Compilable<Row>): Statement<Row> {
  return binder<undefined, Row>(query.compile())(undefined)
}

function binder<Parameters, Row>(compiled: CompiledQuery): Query<Parameters, Row> {
  const { sql, parameters: places, query } = compiled
  const returnsRows = /^select\b/.test(sql) || ('returning' in query && query.returning !== undefined)
  const picks = places.map(toPick)
  return (parameters) => ({
    sql,
    parameters: picks.map((pick) => toSqlValue(pick(parameters))),
    returnsRows,
  })
}

/** Returns the function that reads a parameter. Prepared once, because parameters are read in every call. */
function toPick(place: unknown): (parameters: unknown) => unknown {
  return place instanceof Slot ? place.pick : () => place
}

function toSqlValue(value: unknown): SqlValue {
  if (typeof value === 'string' || typeof value === 'number' || value === null || value instanceof Uint8Array) {
    return value
  }
  throw new TypeError(`a ${typeof value} cannot be bound to a statement`)
}

/** A driver returns integers as bigint if its host asked for that. Ids are text, so none of our integers is large. */
export function plainRows<Row>(rows: readonly unknown[]): readonly Row[] {
  const plain = hasBigint(rows[0]) ? rows.map(withNumbers) : rows
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
  return plain as readonly Row[]
}

/** Same as `plainRows`, for one row. Drivers return undefined or null if no row was found. */
export function plainRow<Row>(row: unknown): Row | undefined {
  if (row === undefined || row === null) return undefined
  const plain = hasBigint(row) ? withNumbers(row) : row
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
  return plain as Row
}

function hasBigint(row: unknown): boolean {
  if (typeof row !== 'object' || row === null) return false
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: every object has such a view
  const values = row as { readonly [column: string]: unknown }
  for (const column in values) if (typeof values[column] === 'bigint') return true
  return false
}

function withNumbers(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row

  const entries: readonly (readonly [string, unknown])[] = Object.entries(row)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]))
}
