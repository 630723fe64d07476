import type { Compilable, CompiledQuery, Expression, OperationNode, QueryExecutorProvider, RawBuilder } from 'kysely'
import { ValueNode } from 'kysely'
import { isBytes } from '../../schema/realms.ts'

/** The values that may be bound to a statement. Every driver accepts these and handles them the same way. */
export type SqlValue = string | number | null | Uint8Array

/** How a statement is run that is not run as others are. */
export interface StatementMarks {
  /**
   * The statement states itself what it locks. It is never turned into a locking read, which would wait for uncommitted
   * rows.
   */
  readonly asWritten?: true | undefined
  /** Only takes the lock of a row, and waits for others that have it. It may create the row of a head. */
  readonly takesLock?: true | undefined
  /** The duration grows with the data that the statement changes, so it is not limited as other statements are. */
  readonly mayTakeLong?: true | undefined
  /** A condition, as SQL. A change that is one statement fails unless a row that this statement returns meets it. */
  readonly needs?: string | undefined
}

/** A statement ready to run. `Row` is the shape of the rows it returns. */
export interface Statement<Row> extends StatementMarks {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /** Some drivers refuse to collect rows from a statement that returns none. */
  readonly returnsRows: boolean
  /** Carries the type only; never present at run time. */
  readonly row?: Row
}

/** A query that is compiled once. Called with its parameters, it returns a statement ready to run. */
export type Query<Parameters, Row> = (parameters: Parameters) => Statement<Row>

/** Marks where a parameter goes, by its name, in a query that is being built. */
export type QueryValues<Parameters> = <K extends keyof Parameters>(name: K) => Slot<Parameters, Parameters[K]>

/** One parameter of a query, and how its value is computed from those of a call. */
export class Slot<Parameters, Value> implements Expression<Value> {
  readonly pick: (parameters: Parameters) => Value

  constructor(pick: (parameters: Parameters) => Value) {
    this.pick = pick
  }

  get expressionType(): Value | undefined {
    return undefined
  }

  /** Returns the same parameter with the value converted by `convert`. */
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
  marks?: StatementMarks,
): Query<Parameters, Row> {
  let bind: Query<Parameters, Row> | undefined

  return (parameters) => {
    bind ??= binder<Parameters, Row>(build((name) => new Slot((all) => all[name])).compile(), marks)
    return bind(parameters)
  }
}

/** Returns a query that is written as SQL, and not by the builder. */
export function rawQuery<Row>(build: QueryExecutorProvider, text: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => text.compile(build) }
}

/** Compiles a query that already contains its parameters. Used for shapes that are built for each call. */
export function compileStatement<Row>(query: Compilable<Row>): Statement<Row> {
  return binder<undefined, Row>(query.compile())(undefined)
}

/** All statements have the same properties in the same order, so that V8 reads them fast. */
function binder<Parameters, Row>(
  compiled: CompiledQuery,
  { asWritten, takesLock, mayTakeLong, needs }: StatementMarks = {},
): Query<Parameters, Row> {
  const { sql, parameters } = compiled
  const returnsRows = /^select\b| returning /.test(sql)
  const picks = parameters.map(toPick)
  return (parameters) => ({
    sql,
    parameters: picks.map((pick) => toSqlValue(pick(parameters))),
    returnsRows,
    asWritten,
    takesLock,
    mayTakeLong,
    needs,
  })
}

/** Returns the function that reads a parameter. Prepared once, because parameters are read in every call. */
function toPick(parameter: unknown): (parameters: unknown) => unknown {
  return parameter instanceof Slot ? parameter.pick : () => parameter
}

function toSqlValue(value: unknown): SqlValue {
  if (typeof value === 'string' || typeof value === 'number' || value === null || isBytes(value)) {
    return value
  }
  throw new TypeError(`a ${typeof value} cannot be bound to a statement`)
}

/** Returns the rows that a driver returned for a query, with the type of its rows. */
export function rowsOf<Row>(rows: readonly unknown[]): readonly Row[] {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
  return rows as readonly Row[]
}

/** Same as `rowsOf`, for one row. Drivers return undefined or null if no row was found. */
export function rowOf<Row>(row: unknown): Row | undefined {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
  return (row ?? undefined) as Row | undefined
}
