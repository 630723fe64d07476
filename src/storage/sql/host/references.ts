import type { Compilable, RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { HostThing, PinKind } from '../../../schema/records.ts'
import type { SqlContext } from '../context.ts'
import { HOST_THINGS } from '../ids.ts'
import type { Query, QueryValues, Statement } from '../query.ts'
import { defineQuery, rawQuery, rowsOf } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import { TABLE_DESCRIPTIONS } from '../schema/tables.ts'
import type { HostRow, HostTable, IssueTable } from './tables.ts'
import { hasKeys, hasTwoIssueTables, issuesOf, tableOf } from './tables.ts'

/** What conditions on rows of the host are built with. */
type ReferenceContext = Pick<SqlContext, 'tables' | 'dialect' | 'ids'>

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

/** Returns the condition that the host has a row with this id. It is true if the storage does not know the table. */
export function existsIn({ tables }: ReferenceContext, row: HostRow, id: RawBuilder<unknown>): RawBuilder<SqlBool> {
  const host = tableOf(tables, row)
  return host === undefined ? ALWAYS : sql`exists (select 1 from ${keyed(host, id)})`
}

/**
 * Returns the condition that a column of forgelet refers to a row that the host still has. Undefined where no row can be
 * missing, because the database removes forgelet's row with it.
 *
 * @param alias - the table of the column
 */
export function livesIn(
  context: ReferenceContext,
  thing: HostThing,
  alias: string,
  name = `${thing}_id`,
): RawBuilder<SqlBool> | undefined {
  const conditions = maybeMissing(context, thing).map((row) => {
    const lives = existsIn(context, row, ownColumn(context, row, `${alias}.${name}`))
    return row.kind === undefined ? lives : sql`(${sql.ref(`${alias}.kind`)} <> ${sql.lit(row.kind)} or ${lives})`
  })
  return conditions.length === 0 ? undefined : sql`(${sql.join(conditions, sql` and `)})`
}

/** Returns the tables of the host in which `livesIn` looks for a thing. */
export function lookedInFor(context: ReferenceContext, thing: HostThing): readonly HostTable[] {
  return maybeMissing(context, thing).flatMap((row) => tableOf(context.tables, row) ?? [])
}

/** Returns the kinds of a thing whose rows of the host may be missing although forgelet's rows refer to them. */
function maybeMissing(context: ReferenceContext, thing: HostThing): readonly HostRow[] {
  const isTwo = thing === 'issue' && hasTwoIssueTables(context.tables)
  const rows = isTwo ? (['issue', 'pullRequest'] as const).map((kind) => ({ thing, kind })) : [{ thing }]
  return rows.filter((row) => mayBeMissing(context, row))
}

/** Returns a column of forgelet, to be compared with the id of such a row. A key has given it the type of that id. */
export function ownColumn(context: ReferenceContext, row: HostRow, name: string, hasKey = true): RawBuilder<unknown> {
  const { dialect, ids, tables } = context
  const [column, host] = [sql.ref(name), tableOf(tables, row)]
  const isOfHost = hasKey && host !== undefined && hasKeys(tables, host)
  return isOfHost || ids.columns[row.thing] !== 'text' ? column : (dialect.anyCollation?.(column) ?? column)
}

/** What a pin refers to: its columns, or what is written into them. */
interface PinReference {
  readonly issue: RawBuilder<unknown>
  readonly repository: RawBuilder<unknown>
  readonly kind: RawBuilder<unknown>
}

/** Returns what the pins in a table refer to. */
export function columnsOfPin(context: ReferenceContext, alias: string): PinReference {
  const column = (thing: 'issue' | 'repository') => ownColumn(context, { thing }, `${alias}.${thing}_id`)
  return { issue: column('issue'), repository: column('repository'), kind: sql.ref(`${alias}.kind`) }
}

/**
 * Returns the condition that the issue of a pin belongs to its board: the host may have moved it to another repository, or made
 * it a pull request. It is true if the storage does not know the table.
 */
export function isOnBoard(
  { tables }: ReferenceContext,
  { issue, repository, kind }: PinReference,
): RawBuilder<SqlBool> {
  if (tables?.issues === undefined) return ALWAYS
  const { issues, pullRequests } = tables
  const found = (host: IssueTable): RawBuilder<SqlBool> =>
    sql`exists (select 1 from ${keyed(host, issue)}${ofBoard(host, repository, kind)})`
  if (pullRequests === undefined) return found(issues)
  const isKind = (one: PinKind, host: IssueTable) => sql`(${kind} = ${sql.lit(one)} and ${found(host)})`
  return sql`(${isKind('issue', issues)} or ${isKind('pullRequest', pullRequests)})`
}

/** Returns the condition that an issue belongs to a board, behind others. An issue without a repository is in no other one. */
function ofBoard(
  { repository: column, pullRequest }: IssueTable,
  repository: RawBuilder<unknown>,
  kind: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const owner = sql.ref(`host.${column}`)
  const isHere = sql` and (${owner} is null or ${owner} = ${repository})`
  if (pullRequest === undefined) return isHere
  return sql`${isHere} and case when ${sql.raw(pullRequest)} then 'pullRequest' else 'issue' end = ${kind}`
}

/** Returns the conditions that the host has deleted the rows to which columns without keys refer. A hidden row is not deleted. */
export function goneIn(
  context: ReferenceContext,
  alias: string,
  things: readonly HostThing[],
): readonly RawBuilder<SqlBool>[] {
  const { tables } = context
  return things.flatMap((thing) => {
    const own = tableOf(tables, { thing })
    const other = thing === 'issue' ? tables?.pullRequests : undefined
    const hosts = [own, other].flatMap((host) => host ?? [])
    if (hosts.length === 0) return []
    const column = ownColumn(context, { thing }, `${alias}.${thing}_id`, false)
    return [
      sql<SqlBool>`(${sql.join(
        hosts.map((host) => isGone(context, host, column)),
        sql` and `,
      )})`,
    ]
  })
}

/** Returns the condition that the host has deleted a row. It is false if row-level security may hide the row instead. */
export function isGone({ dialect }: ReferenceContext, host: HostTable, id: RawBuilder<unknown>): RawBuilder<SqlBool> {
  const isMissing = sql<SqlBool>`not exists (select 1 from ${keyed({ ...host, where: undefined }, id)})`
  const seesAll = dialect.seesAllRows?.(host)
  return seesAll === undefined ? isMissing : sql`${isMissing} and ${seesAll}`
}

/** Returns whether a row of forgelet may outlast the host's row that it refers to, or refer to a hidden one. */
function mayBeMissing({ tables }: ReferenceContext, row: HostRow): boolean {
  const host = tableOf(tables, row)
  return host !== undefined && (host.where !== undefined || !hasKeys(tables, host))
}

/**
 * Returns the query that inserts a row, if the host has every row that it refers to. Otherwise the query inserts and
 * returns nothing, instead of failing on a foreign key. An actor who is missing is written as null.
 *
 * @param values - by the name of their columns
 */
export function insertReferring(
  context: SqlContext,
  table: keyof Tables,
  values: Readonly<Record<string, RawBuilder<unknown>>>,
): Compilable<unknown> {
  const { build, tables } = context
  const conditions: RawBuilder<unknown>[] = []
  const written = Object.entries(withActors(context, table, values)).map(([column, value]) => {
    const type = TABLE_DESCRIPTIONS[table].columns[column]
    const thing = HOST_THINGS.find((one) => one === type)
    const host = thing && tableOf(tables, { thing })
    if (thing === undefined || host === undefined) return value
    const { repository_id: repository, kind } = values
    const isPin = thing === 'issue' && repository !== undefined && kind !== undefined
    conditions.push(
      isPin ? isOnBoard(context, { issue: value, repository, kind }) : existsIn(context, { thing }, value),
    )
    return value
  })
  const where = conditions.length === 0 ? ALWAYS : sql.join(conditions, sql` and `)
  const row = sql`select ${sql.join(written)} where ${where} returning 1 as written`
  const columns = sql.join(Object.keys(values).map((column) => sql.id(column)))
  const source = tables === undefined ? sql`values (${sql.join(written)})` : row
  return rawQuery(build, sql`insert into ${sql.table(table)} (${columns}) ${source}`)
}

/** Returns the values with null in place of an actor who is missing in the table of the host. */
export function withActors<V extends Readonly<Record<string, RawBuilder<unknown>>>>(
  { tables }: ReferenceContext,
  table: keyof Tables,
  values: V,
): V {
  const users = tableOf(tables, { thing: 'user' })
  if (users === undefined) return values
  const actors = Object.entries(values).flatMap(([column, value]) =>
    TABLE_DESCRIPTIONS[table].columns[column] === 'user?'
      ? [[column, sql`(select ${sql.ref(`host.${users.id ?? 'id'}`)} from ${keyed(users, value)})`] as const]
      : [],
  )
  return { ...values, ...Object.fromEntries(actors) }
}

/** The row of a table of the host that has an id and exists for the forge, for `from`. */
function keyed(host: HostTable, id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${named(host)} as host where ${sql.ref(`host.${host.id ?? 'id'}`)} = ${id}${also(host.where)}`
}

/** A row of the host that a change refers to. */
export interface Referred extends HostRow {
  readonly id: Id
  /** The repository in which an issue must be. */
  readonly repositoryId?: Id
}

/** Locks are in the order of the host's cascades: what owns comes before what is owned. */
const ORDER: readonly HostThing[] = ['user', 'organization', 'repository', 'issue']

/** Whether each row was found: 1, or null. */
type Found = Readonly<Record<string, number | null>>

/**
 * The rows of the host that changes refer to. Where it does not suffice that a foreign key locks them, a change locks them
 * before it writes rows that a cascade removes. So it never waits for a row of the host while the host waits for one of the
 * forge.
 */
export class References {
  readonly #context: SqlContext
  readonly #queries = new Map<string, Query<readonly Id[], Found>>()

  constructor(context: SqlContext) {
    this.#context = context
  }

  /** Whether the storage knows no table of the host. */
  get isEmpty(): boolean {
    return this.#context.tables === undefined
  }

  /** Whether the database removes or locks forgelet's rows together with the host's. */
  get areKept(): boolean {
    const { tables } = this.#context
    return tables !== undefined && tables.keys !== false
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
    const byId = (one: Referred, other: Referred): number => (one.id < other.id ? -1 : 1)
    return ORDER.flatMap((thing) => known.filter((row) => row.thing === thing).toSorted(byId))
  }

  /** Returns the statement that looks whether rows exist. It waits for no lock. */
  finding(referred: readonly Referred[]): Statement<Found> {
    return this.#query(referred, false)(idsOf(referred))
  }

  /**
   * Returns the statement that locks rows in their order, if there are any that the foreign keys of the database do not lock
   * by themselves, or not soon enough. That of the actor is locked too, but it need not exist.
   */
  locking(referred: readonly Referred[], actorId: Id | null): readonly Statement<Found>[] {
    const { dialect, tables } = this.#context
    const isActorAmong = referred.some(({ thing, id }) => thing === 'user' && id === actorId)
    const isActorLocked = actorId !== null && !isActorAmong && dialect.lockReferred(false) !== ''
    const actor = isActorLocked ? [{ thing: 'user', id: actorId } as const] : []
    const rows = referred.filter((row) => this.#lockOf(tableOf(tables, row)) !== '')
    const locked = this.known([...actor, ...rows])
    if (locked.length === 0) return []
    const needs = locked.flatMap((row, index) => (rows.includes(row) ? [`row${index} = 1`] : [])).join(' and ')
    return [{ ...this.#query(locked, true)(idsOf(locked)), needs: needs || 'true' }]
  }

  /** Checks what a statement found. @throws ForgeError `*_NOT_FOUND` of the first row that it did not find */
  refuseMissing(referred: readonly Referred[], found: readonly unknown[]): void {
    const [row] = rowsOf<Found>(found)
    for (const [index, { thing }] of referred.entries()) if (row?.[`row${index}`] !== 1) throw notFound(thing)
  }

  /** Returns the clause that locks the rows of a table. A table without keys may be a view, whose rows cannot be locked. */
  #lockOf(host: HostTable | undefined): string {
    const { dialect, tables } = this.#context
    return dialect.lockReferred(host?.where !== undefined && hasKeys(tables, host))
  }

  /** One statement for several rows: each is a subquery, which the databases run in this order. */
  #query(referred: readonly Referred[], locks: boolean): Query<readonly Id[], Found> {
    const name = `${locks} ${referred.map(({ thing, kind = '', repositoryId }) => `${thing} ${kind} ${repositoryId !== undefined}`).join()}`
    const known = this.#queries.get(name)
    if (known !== undefined) return known

    const { dialect, ids, tables, build } = this.#context
    const query: Query<readonly Id[], Found> = defineQuery(
      (given: QueryValues<readonly Id[]>) => {
        const rows = referred.map((row, index) => {
          const host = tableOf(tables, row)
          if (host === undefined) throw new Error(`the storage does not know the table of ${row.thing}`)
          const end = locks ? this.#lockOf(host) : ''
          const issues = row.repositoryId === undefined ? undefined : issuesOf(tables, row.kind)
          const place = issues && ofBoard(issues, ids.given('repository', given(2 * index + 1)), sql.lit(row.kind))
          const from = sql`${keyed(host, ids.given(row.thing, given(2 * index)))}`
          const found = sql`(select 1 from ${from}${place ?? sql``}${sql.raw(end)})`
          return sql`${dialect.number(found)} as ${sql.id(`row${index}`)}`
        })
        return rawQuery(build, sql<Found>`select ${sql.join(rows)}`)
      },
      { asWritten: true, ...(locks && { takesLock: true as const }) },
    )
    this.#queries.set(name, query)
    return query
  }
}

/** Returns the parameters of the statement about rows: the id of each, and its repository. */
function idsOf(referred: readonly Referred[]): readonly Id[] {
  return referred.flatMap(({ id, repositoryId = '' }) => [id, repositoryId])
}
