import type { Compilable, RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { HostThing, PinKind } from '../../../schema/records.ts'
import type { SqlContext } from '../context.ts'
import { HOST_THINGS } from '../ids.ts'
import type { Query, QueryValues, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { ColumnType } from '../schema/tables.ts'
import { TABLE_DESCRIPTIONS, valueType } from '../schema/tables.ts'
import type { HostRow, HostTable } from './tables.ts'
import { hasTwoIssueTables, tableOf } from './tables.ts'

/** What conditions on rows of the host are built with. */
type ReferenceContext = Pick<SqlContext, 'tables'>

/** A condition that is true. */
export const ALWAYS: RawBuilder<SqlBool> = sql`1 = 1`

/** Returns a table of the host as it is named in SQL. */
export function named({ table, schema }: Pick<HostTable, 'table' | 'schema'>): RawBuilder<unknown> {
  return schema === undefined ? sql.id(table) : sql.id(schema, table)
}

/** Returns a condition of the host, behind others. */
export function also(condition: string | undefined): RawBuilder<unknown> {
  return condition === undefined ? sql`` : sql` and (${sql.raw(condition)})`
}

/** Returns the condition that the row of the host exists which has an id. True if the storage does not know its table. */
export function existsIn({ tables }: ReferenceContext, row: HostRow, id: RawBuilder<unknown>): RawBuilder<SqlBool> {
  const host = tableOf(tables, row)
  return host === undefined ? ALWAYS : sql`exists (select 1 from ${keyed(host, id)})`
}

/**
 * Returns the condition that the row of the host exists to which a column of ours refers; undefined where none can be
 * missing: the database removes our row with that of the host.
 *
 * @param alias - the table of the column
 */
export function livesIn(
  context: ReferenceContext,
  thing: HostThing,
  alias: string,
  name = `${thing}_id`,
): RawBuilder<SqlBool> | undefined {
  const { tables } = context
  const column = sql.ref(`${alias}.${name}`)
  if (thing === 'issue' && hasTwoIssueTables(tables)) {
    const kinds = (['issue', 'pullRequest'] as const).flatMap((kind) =>
      mayBeMissing(context, { thing, kind })
        ? [sql`(${sql.ref(`${alias}.kind`)} <> ${sql.lit(kind)} or ${existsIn(context, { thing, kind }, column)})`]
        : [],
    )
    return kinds.length === 0 ? undefined : sql`(${sql.join(kinds, sql` and `)})`
  }
  return mayBeMissing(context, { thing }) ? existsIn(context, { thing }, column) : undefined
}

/** Returns the conditions that the rows of the host are deleted to which columns of ours refer, hidden ones not counted. */
export function goneIn(
  { tables }: ReferenceContext,
  alias: string,
  things: readonly HostThing[],
): readonly RawBuilder<SqlBool>[] {
  return things.flatMap((thing) => {
    const own = tableOf(tables, { thing })
    const other = thing === 'issue' ? tables?.pullRequests : undefined
    const hosts = [own, other].flatMap((host) => host ?? [])
    if (hosts.length === 0) return []
    const column = sql.ref(`${alias}.${thing}_id`)
    const found = hosts.map((host) => sql`exists (select 1 from ${keyed({ ...host, where: undefined }, column)})`)
    return [sql<SqlBool>`not (${sql.join(found, sql` or `)})`]
  })
}

/** Returns whether a row of ours may stay although the row of the host is gone, or is none for the forge. */
function mayBeMissing({ tables }: ReferenceContext, row: HostRow): boolean {
  const host = tableOf(tables, row)
  return host !== undefined && (host.where !== undefined || tables?.keys === false)
}

/**
 * Returns the query that inserts a row of a table, unless a row of the host is missing to which it refers: then it inserts
 * nothing, and does not fail on a foreign key. An actor who is missing is written as null.
 *
 * @param values - by the name of their columns
 */
export function insertReferring(
  context: SqlContext,
  table: 'board_pins' | 'organization_blocks' | 'blocks_by_users' | 'user_grants',
  values: Readonly<Record<string, RawBuilder<unknown>>>,
): Compilable<unknown> {
  const { build, tables } = context
  const types = new Map<string, ColumnType>(Object.entries(TABLE_DESCRIPTIONS[table].columns))
  const entries = Object.entries(values)
  const columns = sql.join(entries.map(([column]) => sql.id(column)))
  const conditions: RawBuilder<unknown>[] = []
  const written = entries.map(([column, value]) => {
    const thing = HOST_THINGS.find((one) => one === valueType(types.get(column) ?? 'text'))
    const host = thing && tableOf(tables, { thing })
    if (thing === undefined || host === undefined) return value
    if (String(types.get(column)).endsWith('?'))
      return sql`(select ${sql.ref(`host.${host.id ?? 'id'}`)} from ${keyed(host, value)})`
    const { kind } = values
    if (thing !== 'issue' || kind === undefined || !hasTwoIssueTables(tables))
      conditions.push(existsIn(context, { thing }, value))
    else {
      const of = (one: PinKind) =>
        sql`(${kind} = ${sql.lit(one)} and ${existsIn(context, { thing, kind: one }, value)})`
      conditions.push(sql`(${of('issue')} or ${of('pullRequest')})`)
    }
    return value
  })
  const row =
    conditions.length === 0
      ? sql`values (${sql.join(written)})`
      : sql`select ${sql.join(written)} where ${sql.join(conditions, sql` and `)}`
  const insert = sql`insert into ${sql.table(table)} (${columns}) ${row}`
  return { compile: () => insert.compile(build) }
}

/** The row of a table of the host that has an id and exists for the forge, for `from`. */
function keyed(host: HostTable, id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${named(host)} as host where ${sql.ref(`host.${host.id ?? 'id'}`)} = ${id}${also(host.where)}`
}

/** A row of the host that a change refers to. */
export interface Referred extends HostRow {
  readonly id: Id
}

/** Locks are in the order of the host's cascades: what owns comes before what is owned. */
const ORDER: readonly HostThing[] = ['user', 'organization', 'repository', 'issue']

type RowQuery = Query<{ readonly id: Id }, { readonly found: number }>

/**
 * The rows of the host that changes refer to. A change that adds a row locks them against removal before it writes rows
 * that a cascade removes. So it never waits for a row of the host while the host waits for one of the forge.
 */
export class References {
  readonly #context: SqlContext
  readonly #finding = new Map<HostTable, RowQuery>()
  readonly #locking = new Map<HostTable, RowQuery>()

  constructor(context: SqlContext) {
    this.#context = context
  }

  /** Whether the storage sees in a table of the host if such a thing exists. */
  has(thing: HostThing): boolean {
    return tableOf(this.#context.tables, { thing }) !== undefined
  }

  /** Returns those whose tables the storage knows, in the order of locks. */
  known(referred: readonly Referred[]): readonly Referred[] {
    const { tables } = this.#context
    if (tables === undefined) return []
    const known = referred.filter((row) => tableOf(tables, row) !== undefined)
    return known.length < 2
      ? known
      : ORDER.flatMap((thing) => known.filter((row) => row.thing === thing).toSorted(byId))
  }

  /** Returns the statements that look whether rows exist. They wait for no lock. */
  finding(referred: readonly Referred[]): readonly Statement<unknown>[] {
    return referred.map((row) => this.#query(this.#finding, row, '')(row))
  }

  /** Returns the statements that lock rows against removal. */
  locking(referred: readonly Referred[]): readonly Statement<unknown>[] {
    return referred.map((row) => this.#query(this.#locking, row, 'lock')(row))
  }

  /** @throws ForgeError `*_NOT_FOUND` of the first row that the statements did not find */
  refuseMissing(referred: readonly Referred[], rows: readonly (readonly unknown[])[]): void {
    for (const [index, { thing }] of referred.entries()) if (rows[index]?.length === 0) throw notFound(thing)
  }

  #query(made: Map<HostTable, RowQuery>, row: Referred, lock: 'lock' | ''): RowQuery {
    const { dialect, ids, tables, build } = this.#context
    const host = tableOf(tables, row)
    if (host === undefined) throw new Error(`the storage does not know the table of ${row.thing}`)
    const known = made.get(host)
    if (known !== undefined) return known

    const end = lock === 'lock' ? dialect.lockReferred(host.where !== undefined) : ''
    const query: RowQuery = defineQuery(
      (given: QueryValues<{ readonly id: Id }>) => {
        const found = sql<{
          readonly found: number
        }>`select 1 as found from ${keyed(host, ids.given(row.thing, given('id')))}${sql.raw(end)}`
        return { compile: () => found.compile(build) }
      },
      { asWritten: true, ...(lock === 'lock' && { takesLock: true as const }) },
    )
    made.set(host, query)
    return query
  }
}

function byId(one: Referred, other: Referred): number {
  return one.id < other.id ? -1 : 1
}
