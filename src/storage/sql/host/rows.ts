import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { HostIssue, HostPorts, HostUser } from '../../contract/host.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import type { SqlRuntime } from '../session.ts'
import { compiled } from './lookups.ts'
import { flag } from './members.ts'
import { also, named } from './references.ts'
import type { HostTable, HostTables, IssueTable, UserTable } from './tables.ts'

interface UserRow {
  readonly id: Id
  readonly name: string | null
  readonly fullName: string | null
  readonly email: string | null
  readonly avatar: string | null
}

interface IssueRow {
  readonly id: Id
  readonly number: number
  readonly title: string | null
  readonly body: string | null
  readonly isClosed: number
  readonly authorId: Id | null
  readonly createdAt: number | null
  readonly updatedAt: number | null
}

/** Returns the reads of rows that presenters show. */
export function hostRows<Tx>(
  context: SqlContext,
  { users, issues, pullRequests }: HostTables,
  runtime: SqlRuntime<Tx>,
): Partial<HostPorts<Tx>> {
  const readUsers = users && usersReader(context, users, runtime)
  return {
    ...(readUsers && { users: readUsers }),
    ...(issues && { issues: issuesReader(context, issues, runtime, readUsers) }),
    ...(issues && { pullRequests: issuesReader(context, pullRequests ?? issues, runtime, readUsers) }),
  }
}

function usersReader<Tx>(context: SqlContext, table: UserTable, runtime: SqlRuntime<Tx>): HostPorts<Tx>['users'] {
  const { name = 'name', fullName, email, avatar } = table
  const find = rowsById<UserRow>(context, 'user', table, texts(context, { name, fullName, email, avatar }))
  return (asked, { transaction }) =>
    runtime.read(
      (session) => after(session.all(find({ ids: [...asked] })), (rows) => inOrder(asked, rows.map(toUser))),
      transaction,
    )
}

function issuesReader<Tx>(
  context: SqlContext,
  table: IssueTable,
  runtime: SqlRuntime<Tx>,
  readUsers: HostPorts<Tx>['users'] | undefined,
): HostPorts<Tx>['issues'] {
  const { columns, dialect } = context
  const { title, body, closed, author } = table
  const time = (column: string | undefined): RawBuilder<unknown> =>
    column === undefined ? sql`null` : dialect.number(dialect.milliseconds(sql.id(column)))
  const find = rowsById<IssueRow>(context, 'issue', table, [
    sql`${columns.number(table.number)} as number`,
    ...texts(context, { title, body }),
    sql`${flag(dialect, closed)} as ${sql.id('isClosed')}`,
    sql`${author === undefined ? sql`null` : columns.id(author)} as ${sql.id('authorId')}`,
    sql`${time(table.createdAt)} as ${sql.id('createdAt')}`,
    sql`${time(table.updatedAt)} as ${sql.id('updatedAt')}`,
  ])
  return (asked, port) =>
    after(
      runtime.read((session) => session.all(find({ ids: [...asked] })), port.transaction),
      (rows) => {
        const authors = [...new Set(rows.flatMap(({ authorId }) => authorId ?? []))]
        const users = readUsers === undefined || authors.length === 0 ? [] : readUsers(authors, port)
        return after(users, (found) => {
          const byId = new Map(found.flatMap((user) => (user === undefined ? [] : [[user.id, user]])))
          return inOrder(
            asked,
            rows.map((row) => toIssue(row, row.authorId === null ? undefined : byId.get(row.authorId))),
          )
        })
      },
    )
}

/** Returns the query for rows with these ids. @param shown - what it selects beside the id */
function rowsById<Row extends { readonly id: Id }>(
  context: SqlContext,
  thing: 'user' | 'issue',
  table: HostTable,
  shown: readonly RawBuilder<unknown>[],
): Query<{ readonly ids: readonly Id[] }, Row> {
  const { columns, ids } = context
  const id = table.id ?? 'id'
  return compiled(
    context,
    (given) =>
      sql`select ${columns.id(id)} as id, ${sql.join(shown)} from ${named(table)} where ${sql.id(id)} in ${ids.givenList(thing, given('ids'))}${also(table.where)}`,
  )
}

/** The columns of texts, each by the name of its property. A column that the host has not named is null. */
function texts(
  { dialect }: SqlContext,
  named: Readonly<Record<string, string | undefined>>,
): readonly RawBuilder<unknown>[] {
  return Object.entries(named).map(([name, column]) =>
    column === undefined
      ? sql`null as ${sql.id(name)}`
      : sql`cast(${sql.id(column)} as ${dialect.casts.text}) as ${sql.id(name)}`,
  )
}

function inOrder<T extends { readonly id: Id }>(ids: readonly Id[], found: readonly T[]): readonly (T | undefined)[] {
  const byId = new Map(found.map((one) => [one.id, one]))
  return ids.map((id) => byId.get(id))
}

function toUser({ id, name, fullName, email, avatar }: UserRow): HostUser {
  return {
    id,
    name: name ?? '',
    fullName: fullName ?? undefined,
    email: email ?? undefined,
    avatar: avatar ?? undefined,
  }
}

function toIssue(row: IssueRow, author: HostUser | undefined): HostIssue {
  const { id, number, title, body, isClosed, createdAt, updatedAt } = row
  return {
    id,
    number,
    title: title ?? undefined,
    body: body ?? undefined,
    isClosed: isClosed === 1,
    author,
    createdAt: toTime(createdAt),
    updatedAt: toTime(updatedAt),
  }
}

/** Clients expect a year of four digits. Databases also hold other years, and infinite times. */
function toTime(milliseconds: number | null): Date | undefined {
  const time = new Date(milliseconds ?? Number.NaN)
  const year = time.getUTCFullYear()
  return year >= 0 && year <= 9999 ? time : undefined
}
