import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { HostIssue, HostPorts, HostUser } from '../../contract/host.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { SqlRuntime } from '../session.ts'
import { compiled } from './lookups.ts'
import { also, named } from './references.ts'
import type { HostTables, IssueTable, UserTable } from './tables.ts'

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
  const { columns, ids } = context
  const id = table.id ?? 'id'
  const find = compiled<{ ids: readonly Id[] }, UserRow>(context, (given) => {
    const shown = sql.join([
      sql`${columns.id(id)} as id`,
      ...texts(context, {
        name: table.name ?? 'name',
        fullName: table.fullName,
        email: table.email,
        avatar: table.avatar,
      }),
    ])
    return sql`select ${shown} from ${named(table)} where ${sql.id(id)} in ${ids.givenList('user', given('ids'))}${also(table.where)}`
  })
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
  const { columns, ids, dialect } = context
  const id = table.id ?? 'id'
  const time = (column: string | undefined): RawBuilder<unknown> =>
    column === undefined ? sql`null` : dialect.number(dialect.milliseconds(sql.id(column)))
  const find = compiled<{ ids: readonly Id[] }, IssueRow>(context, (given) => {
    const isClosed = table.closed === undefined ? sql`0` : sql`case when (${sql.raw(table.closed)}) then 1 else 0 end`
    const shown = sql.join([
      sql`${columns.id(id)} as id`,
      sql`${columns.number(table.number)} as number`,
      ...texts(context, { title: table.title, body: table.body }),
      sql`${dialect.number(isClosed)} as ${sql.id('isClosed')}`,
      sql`${table.author === undefined ? sql`null` : columns.id(table.author)} as ${sql.id('authorId')}`,
      sql`${time(table.createdAt)} as ${sql.id('createdAt')}`,
      sql`${time(table.updatedAt)} as ${sql.id('updatedAt')}`,
    ])
    return sql`select ${shown} from ${named(table)} where ${sql.id(id)} in ${ids.givenList('issue', given('ids'))}${also(table.where)}`
  })
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
