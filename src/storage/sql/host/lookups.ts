import type { RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { Query, QueryValues } from '../query.ts'
import { defineQuery, rawQuery } from '../query.ts'

/** Returns the query of an SQL text. The function that builds the text receives the parameters. */
export function compiled<P, Row>(
  { build }: SqlContext,
  text: (given: QueryValues<P>) => RawBuilder<Row>,
): Query<P, Row> {
  return defineQuery((given: QueryValues<P>) => rawQuery(build, text(given)))
}

/** A row that a name finds. */
export interface Found {
  readonly id: Id
  /** 1 if it has exactly this name. */
  readonly isExact: number
}

/** How names are compared: exactly, or without regard to case. */
export type Comparison = (column: RawBuilder<unknown>, name: RawBuilder<unknown>) => RawBuilder<SqlBool>

export const EXACTLY: Comparison = (column, name) => sql`${column} = ${name}`
export const WITHOUT_CASE: Comparison = (column, name) => sql`lower(${column}) = lower(${name})`

/**
 * Returns the row that has a name. A column may compare without regard to case by itself, and then also find several: one
 * that is equal to the name is preferred.
 */
export function rowOfName<Row extends Found>(rows: readonly Row[]): Row | undefined {
  return rows.find(({ isExact }) => isExact === 1) ?? (rows.length === 1 ? rows[0] : undefined)
}

/** Asks one after the other until there is an answer. */
export function firstOf<T>(asks: readonly (() => MaybePromise<T | undefined>)[]): MaybePromise<T | undefined> {
  const [ask, ...others] = asks
  return ask && after(ask(), (answer) => answer ?? firstOf(others))
}
