import type { Compilable, CompiledQuery, Expression, OperationNode } from 'kysely'
import { ValueNode } from 'kysely'

/** What may be bound to a statement: every driver takes these and gives the same answer. */
export type SqlValue = string | number | null | Uint8Array

/** A statement ready to run. `Row` is the shape of the rows it gives back. */
export interface Statement<Row> {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /** Some drivers refuse to collect rows from a statement that gives none back. */
  readonly returnsRows: boolean
  /** Says itself what it locks: nowhere does it become a locking read, which would wait for what is not committed yet. */
  readonly asWritten?: true
  /** Grows with the data that it changes: it is not limited as other statements are. */
  readonly mayTakeLong?: true
  /** Carries the type only; never there. */
  readonly row?: Row
}

/** A query compiled once: give it its parameters and it is ready to run. */
export type Query<Parameters, Row> = (parameters: Parameters) => Statement<Row>

/** Marks the place of a parameter, by its name, in a query that is being built. */
export type QueryValues<Parameters> = <K extends keyof Parameters>(name: K) => Slot<Parameters, Parameters[K]>

/** The place of one parameter in a query, and how its value is made from the parameters. */
export class Slot<Parameters, Value> implements Expression<Value> {
  readonly pick: (parameters: Parameters) => Value

  constructor(pick: (parameters: Parameters) => Value) {
    this.pick = pick
  }

  get expressionType(): Value | undefined {
    return undefined
  }

  /** The same place, for what `convert` makes of the value. */
  as<Converted>(convert: (value: Value) => Converted): Slot<Parameters, Converted> {
    return slot((parameters) => convert(this.pick(parameters)))
  }

  toOperationNode(): OperationNode {
    return ValueNode.create(this)
  }
}

function slot<Parameters, Value>(pick: (parameters: Parameters) => Value): Slot<Parameters, Value> {
  return new Slot(pick)
}

/**
 * Defines a query that is compiled at its first use and never again.
 *
 * @param build - builds the query; `given('userId')` stands where that parameter goes
 */
export function defineQuery<Parameters, Row>(
  build: (given: QueryValues<Parameters>) => Compilable<Row>,
): Query<Parameters, Row> {
  let bind: Query<Parameters, Row> | undefined

  return (parameters) => {
    bind ??= binder<Parameters, Row>(build((name) => slot((all) => all[name])).compile())
    return bind(parameters)
  }
}

/** The same query, which never becomes a locking read. */
export function asWritten<Parameters, Row>(query: Query<Parameters, Row>): Query<Parameters, Row> {
  return (parameters) => ({ ...query(parameters), asWritten: true })
}

/** The same query, which takes as long as there are rows for it. */
export function mayTakeLong<Parameters, Row>(query: Query<Parameters, Row>): Query<Parameters, Row> {
  return (parameters) => ({ ...query(parameters), mayTakeLong: true })
}

/** Compiles a query whose parameters are in it already: for the shapes that are put together from call to call. */
export function compileStatement<Row>(query: Compilable<Row>): Statement<Row> {
  return binder<undefined, Row>(query.compile())(undefined)
}

function binder<Parameters, Row>(compiled: CompiledQuery): Query<Parameters, Row> {
  const { sql, parameters: places, query } = compiled
  const returnsRows = query.kind === 'SelectQueryNode' || ('returning' in query && query.returning !== undefined)
  return (parameters) => ({ sql, parameters: places.map((place) => valueAt(place, parameters)), returnsRows })
}

function valueAt(place: unknown, parameters: unknown): SqlValue {
  const value: unknown = place instanceof Slot ? place.pick(parameters) : place
  if (typeof value === 'string' || typeof value === 'number' || value === null || value instanceof Uint8Array) {
    return value
  }
  throw new TypeError(`a ${typeof value} cannot be bound to a statement`)
}

/** Whole numbers come as bigint from a driver whose host asked for them; ids are text, so none of ours is large. */
export function plainRows<Row>(rows: readonly unknown[]): readonly Row[] {
  const plain = hasBigint(rows[0]) ? rows.map(withNumbers) : rows
  return plain as readonly Row[] // unknown data: the shape of a row was inferred from the query that asked for it
}

function hasBigint(row: unknown): boolean {
  return typeof row === 'object' && row !== null && Object.values(row).some((value) => typeof value === 'bigint')
}

function withNumbers(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row

  const entries: readonly (readonly [string, unknown])[] = Object.entries(row)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]))
}
