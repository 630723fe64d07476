import type { RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import { toId } from '../../../schema/ids.ts'
import type { AccountRef, PinKind } from '../../../schema/records.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { FoundRepository, HostContext, HostPorts, Standing } from '../../contract/host.ts'
import type { BlockKey } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Query, QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { SqlRuntime } from '../session.ts'
import { also, named } from './references.ts'
import { hostRows } from './rows.ts'
import type { HostTable, HostTables, IssueTable } from './tables.ts'

/** Returns the ports that the tables of the host answer: each whose tables the storage knows. */
export function hostPorts<Tx>(context: SqlContext, runtime: SqlRuntime<Tx>): Partial<HostPorts<Tx>> | undefined {
  const { tables } = context
  if (tables === undefined) return undefined
  return {
    ...accountPorts(context, tables, runtime),
    ...repositoryPorts(context, tables, runtime),
    ...memberPorts(context, tables, runtime),
    ...hostRows(context, tables, runtime),
  }
}

/** What is found of a member: 1. 0 says that the transaction does not see members who joined since its snapshot. */
export interface MemberRow {
  readonly found: number
}

/**
 * Returns the query whether a user is a member of an organization; undefined if the storage does not know the members.
 *
 * @param isGuarded - whether a decision about a block depends on it, so that it must say what it may not see
 */
export function memberQuery(
  context: SqlContext,
  { isGuarded }: { readonly isGuarded: boolean },
): Query<BlockKey, MemberRow> | undefined {
  const { tables, ids, dialect } = context
  const members = tables?.members
  if (members === undefined) return undefined
  return compiled(context, (given: QueryValues<BlockKey>) => {
    const organization = sql`${sql.id(members.organization)} = ${ids.given('organization', given('organizationId'))}`
    const user = sql`${sql.id(members.user)} = ${ids.given('user', given('userId'))}`
    const found = sql<MemberRow>`select ${dialect.number(sql`1`)} as found from ${named(members)} where ${organization} and ${user}${also(members.where)}`
    if (!isGuarded || dialect.readsSnapshot === undefined || members.check === 'none') return found
    return sql<MemberRow>`${found} union all select ${dialect.number(sql`0`)} where ${dialect.readsSnapshot}`
  })
}

/** Returns whether a query has found a member. */
export function hasMember(rows: readonly MemberRow[]): boolean {
  return rows.some(({ found }) => found === 1)
}

/** Refuses to block a user who may have become a member since. @throws TypeError if the query could not see that */
export function refuseSnapshot(rows: readonly MemberRow[]): void {
  if (rows.every(({ found }) => found !== 0)) return
  throw new TypeError(
    'a block in a transaction that reads a snapshot does not see new members: begin it at READ COMMITTED',
  )
}

function compiled<P, Row>({ build }: SqlContext, text: (given: QueryValues<P>) => RawBuilder<Row>): Query<P, Row> {
  return defineQuery((given: QueryValues<P>) => {
    const query = text(given)
    return { compile: () => query.compile(build) }
  })
}

/** A row that a name finds. */
interface Found {
  readonly id: Id
}

/** How names are compared: exactly, or without regard to case. */
type Comparison = (column: RawBuilder<unknown>, name: RawBuilder<unknown>) => RawBuilder<SqlBool>

const EXACTLY: Comparison = (column, name) => sql`${column} = ${name}`
const WITHOUT_CASE: Comparison = (column, name) => sql`lower(${column}) = lower(${name})`

/**
 * Returns the row that has a name. A column may compare without regard to case by itself, and then also find several: one
 * that is equal to the name is preferred.
 */
function named1<Row extends { readonly isExact: number }>(rows: readonly Row[]): Row | undefined {
  return rows.find(({ isExact }) => isExact === 1) ?? (rows.length === 1 ? rows[0] : undefined)
}

function accountPorts<Tx>(
  context: SqlContext,
  { users, organizations }: HostTables,
  runtime: SqlRuntime<Tx>,
): Pick<HostPorts<Tx>, 'findAccount'> | undefined {
  if (users === undefined) return undefined
  const { columns, dialect } = context
  const finding = (table: HostTable & { readonly name?: string | undefined }) => {
    const [id, column] = [table.id ?? 'id', sql.id(table.name ?? 'name')]
    const by = (compare: Comparison) =>
      compiled<{ name: string }, Found & { readonly isExact: number }>(context, (given) => {
        const name = sql`cast(${given('name')} as ${dialect.casts.text})`
        const isExact = dialect.number(sql`case when ${dialect.exactly(column)} = ${name} then 1 else 0 end`)
        return sql`select ${columns.id(id)} as id, ${isExact} as ${sql.id('isExact')} from ${named(table)} where ${compare(column, name)}${also(table.where)} limit 3`
      })
    return [by(EXACTLY), by(WITHOUT_CASE)] as const
  }
  const queries = { user: finding(users), organization: organizations && finding(organizations) }

  return {
    findAccount: (name, { transaction }, wanted) =>
      runtime.read((session) => {
        const kinds = wanted === undefined ? (['user', 'organization'] as const) : [wanted]
        const steps = kinds.flatMap((kind) => queries[kind]?.map((find) => ({ kind, statement: find({ name }) })) ?? [])
        // Exact names of both kinds come before names that differ in case.
        const ordered = [...steps.filter((_, at) => at % 2 === 0), ...steps.filter((_, at) => at % 2 === 1)]
        const look = ([step, ...others]: typeof ordered): MaybePromise<
          (AccountRef & { readonly id: Id }) | undefined
        > =>
          step &&
          after(session.all(step.statement), (rows) => {
            const row = named1(rows)
            return row === undefined ? look(others) : { kind: step.kind, id: row.id }
          })
        return look(ordered)
      }, transaction),
  }
}

/** Which repository is wanted, for whom, and which of its issues. */
interface WantedRepository {
  readonly owner: string
  readonly name: string
  readonly actorId: Id | null
  readonly index: number
}

interface RepositoryRow extends StandingRow {
  readonly id: Id
  readonly isExact: number
  readonly issueId: Id | null
  readonly pullRequestId: Id | null
}

interface StandingRow {
  readonly isMember: number
  readonly isOwner: number
  readonly isPrivate: number
}

/** What was read together with a repository. */
interface Beside {
  readonly repositoryId: Id
  readonly actorId: Id | null
  readonly standing: Standing
  readonly index: number | undefined
  readonly issue: { readonly id: Id; readonly kind: PinKind } | undefined
}

function repositoryPorts<Tx>(context: SqlContext, tables: HostTables, runtime: SqlRuntime<Tx>): Partial<HostPorts<Tx>> {
  const { repositories, issues, pullRequests } = tables
  const { ids, columns, dialect } = context
  /** What was read beside the repositories that were returned. */
  const found = new WeakMap<object, Beside>()
  const issueQueries = issues && [
    issueQuery(context, issues, undefined),
    ...(pullRequests === undefined ? [] : [issueQuery(context, pullRequests, 'pullRequest')]),
  ]

  const findIssue: HostPorts<Tx>['findIssue'] = (repositoryId, index, { transaction, repository }) => {
    const beside = repository && found.get(repository)
    if (beside?.repositoryId === repositoryId && beside.index === index)
      return beside.issue && { repositoryId, ...beside.issue }
    return runtime.read((session) => {
      const look = ([find, ...others]: NonNullable<typeof issueQueries>): ReturnType<typeof findIssue> =>
        find &&
        after(session.first(find({ repositoryId, index })), (row) =>
          row === undefined
            ? look(others)
            : { id: row.id, repositoryId, kind: row.isPull === 1 ? ('pullRequest' as const) : ('issue' as const) },
        )
      return look(issueQueries ?? [])
    }, transaction)
  }
  if (repositories === undefined) return issues === undefined ? {} : { findIssue }

  const sources = repositoryRows(context, tables, repositories)
  const byName = (compare: Comparison) =>
    compiled<WantedRepository, RepositoryRow>(context, (given) => {
      const [owner, name] = (['owner', 'name'] as const).map((one) => sql`cast(${given(one)} as ${dialect.casts.text})`)
      const [ownerText, nameText] = [owner ?? sql``, name ?? sql``]
      // Who has the name exactly is the owner that is meant, also without such a repository.
      const others = sources.map(({ owners }) => sql` and not exists (${owners(ownerText)})`)
      const isOwner = (ownerName: RawBuilder<unknown>) =>
        compare === EXACTLY
          ? compare(ownerName, ownerText)
          : sql`(${dialect.exactly(ownerName)} = ${ownerText} or ${compare(ownerName, ownerText)}${sql.join(others, sql``)})`
      const index = sql`cast(${given('index')} as ${dialect.casts.integer})`
      const rows = sources.map(({ from, ownerName, standing }) => {
        const repositoryName = sql.ref(`repository.${repositories.name ?? 'name'}`)
        const isExact = sql`case when ${dialect.exactly(ownerName)} = ${ownerText} and ${dialect.exactly(repositoryName)} = ${nameText} then 1 else 0 end`
        const id = sql.ref(`repository.${repositories.id ?? 'id'}`)
        const [issueId, pullRequestId] = issuesBeside(context, tables, id, index)
        return sql`select ${columns.id(`repository.${repositories.id ?? 'id'}`)} as id, ${dialect.number(isExact)} as ${sql.id('isExact')}, ${standing(ids.given('user', given('actorId')))}, ${issueId} as ${sql.id('issueId')}, ${pullRequestId} as ${sql.id('pullRequestId')} from ${from} where ${isOwner(ownerName)} and ${compare(repositoryName, nameText)}${also(repositories.where)}`
      })
      return sql`${sql.join(rows, sql` union all `)} limit 3`
    })
  const queries = [byName(EXACTLY), byName(WITHOUT_CASE)]
  const standingById = compiled<{ repositoryId: Id; actorId: Id | null }, StandingRow>(context, (given) => {
    const id = sql`${sql.ref(`repository.${repositories.id ?? 'id'}`)} = ${ids.given('repository', given('repositoryId'))}`
    const rows = sources.map(
      ({ from, standing }) =>
        sql`select ${standing(ids.given('user', given('actorId')))} from ${from} where ${id}${also(repositories.where)}`,
    )
    return sql`${sql.join(rows, sql` union all `)}`
  })

  return {
    ...(issues && { findIssue }),
    findRepository: (owner, name, port, { index } = {}) =>
      runtime.read((session) => {
        const actorId = actorIdIn(port)
        const wanted = { owner, name, actorId, index: index ?? 0 }
        const look = ([find, ...others]: typeof queries): MaybePromise<FoundRepository | undefined> =>
          find &&
          after(session.all(find(wanted)), (rows) => {
            const row = named1(rows)
            if (row === undefined) return look(others)
            const repository = { id: row.id }
            found.set(repository, {
              repositoryId: row.id,
              actorId,
              standing: toStanding(row),
              index: issues && index,
              issue: issueOf(row),
            })
            return repository
          })
        return look(queries)
      }, port.transaction),
    standingInRepository(repositoryId, port) {
      const actorId = actorIdIn(port)
      const beside = port.repository && found.get(port.repository)
      if (beside?.repositoryId === repositoryId && beside.actorId === actorId) return beside.standing
      return runtime.read(
        (session) => after(session.first(standingById({ repositoryId, actorId })), (row) => row && toStanding(row)),
        port.transaction,
      )
    },
  }
}

function issueOf({ issueId, pullRequestId }: RepositoryRow): Beside['issue'] {
  if (issueId !== null) return { id: issueId, kind: 'issue' }
  return pullRequestId === null ? undefined : { id: pullRequestId, kind: 'pullRequest' }
}

/** Where repositories of one kind of owner are, the name of the owner, and what the members say of a user. */
interface RepositorySource {
  readonly from: RawBuilder<unknown>
  readonly ownerName: RawBuilder<unknown>
  /** The owners with exactly this name. */
  readonly owners: (name: RawBuilder<unknown>) => RawBuilder<unknown>
  readonly standing: (actorId: RawBuilder<unknown>) => RawBuilder<unknown>
}

function repositoryRows(
  { dialect }: SqlContext,
  { users, organizations, members }: HostTables,
  repositories: NonNullable<HostTables['repositories']>,
): readonly RepositorySource[] {
  const source = (owner: HostTable & { readonly name?: string | undefined }, column: string) => ({
    from: sql`${named(repositories)} as repository join (select ${sql.id(owner.id ?? 'id')} as owner_id, ${sql.id(owner.name ?? 'name')} as owner_name from ${named(owner)}${owner.where === undefined ? sql`` : sql` where (${sql.raw(owner.where)})`}) as owner on owner.owner_id = ${sql.ref(`repository.${column}`)}`,
    ownerName: sql.ref('owner.owner_name'),
    owners: (name: RawBuilder<unknown>) =>
      sql`select 1 from ${named(owner)} where ${dialect.exactly(sql.id(owner.name ?? 'name'))} = ${name}${also(owner.where)}`,
  })
  const isPrivate = flag(dialect, repositories.private)
  const { organization, user } = repositories.owner
  const owner = sql.ref('owner.owner_id')
  return [
    ...(organization === undefined || organizations === undefined
      ? []
      : [
          {
            ...source(organizations, organization),
            standing: (actorId: RawBuilder<unknown>) => standingOf(dialect, members, owner, actorId, isPrivate),
          },
        ]),
    ...(user === undefined || users === undefined
      ? []
      : [
          {
            ...source(users, user),
            standing: (actorId: RawBuilder<unknown>) => {
              const isOwner = dialect.number(sql`case when ${owner} = ${actorId} then 1 else 0 end`)
              return sql`${isOwner} as ${sql.id('isMember')}, ${isOwner} as ${sql.id('isOwner')}, ${isPrivate} as ${sql.id('isPrivate')}`
            },
          },
        ]),
  ]
}

function flag(dialect: SqlContext['dialect'], condition: string | undefined): RawBuilder<number> {
  return dialect.number(condition === undefined ? sql`0` : sql`case when (${sql.raw(condition)}) then 1 else 0 end`)
}

/** The columns of what the members say of a user in an organization. */
function standingOf(
  dialect: SqlContext['dialect'],
  members: HostTables['members'],
  organization: RawBuilder<unknown>,
  actorId: RawBuilder<unknown>,
  isPrivate: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const among = (condition: string | undefined): RawBuilder<number> => {
    if (members === undefined) return dialect.number(sql`0`)
    const row = sql`select 1 from ${named(members)} as member where ${sql.ref(`member.${members.organization}`)} = ${organization} and ${sql.ref(`member.${members.user}`)} = ${actorId}${also(members.where)}${also(condition)}`
    return dialect.number(sql`case when exists (${row}) then 1 else 0 end`)
  }
  const isOwner = members?.owner === undefined ? dialect.number(sql`0`) : among(members.owner)
  return sql`${among(undefined)} as ${sql.id('isMember')}, ${isOwner} as ${sql.id('isOwner')}, ${isPrivate} as ${sql.id('isPrivate')}`
}

function toStanding({ isMember, isOwner, isPrivate }: StandingRow): Standing {
  return { isMember: isMember === 1, isOwner: isOwner === 1, isPrivate: isPrivate === 1 }
}

/** The ids of the issue and of the pull request that have a number in a repository; null where there is none. */
function issuesBeside(
  { columns }: SqlContext,
  { issues, pullRequests }: HostTables,
  repositoryId: RawBuilder<unknown>,
  index: RawBuilder<unknown>,
): readonly [RawBuilder<unknown>, RawBuilder<unknown>] {
  const none = sql`null`
  const idOf = (table: Omit<IssueTable, 'pullRequest'> | undefined, condition: RawBuilder<unknown>) =>
    table === undefined
      ? none
      : sql`(select ${columns.id(`issue.${table.id ?? 'id'}`)} from ${named(table)} as issue where ${sql.ref(`issue.${table.repository}`)} = ${repositoryId} and ${sql.ref(`issue.${table.number}`)} = ${index}${also(table.where)}${condition})`
  if (issues === undefined) return [none, none]
  if (pullRequests !== undefined) return [idOf(issues, sql``), idOf(pullRequests, sql``)]
  const { pullRequest } = issues
  if (pullRequest === undefined) return [idOf(issues, sql``), none]
  return [idOf(issues, sql` and not coalesce((${sql.raw(pullRequest)}), false)`), idOf(issues, also(pullRequest))]
}

function issueQuery(
  context: SqlContext,
  table: IssueTable,
  kind: 'pullRequest' | undefined,
): Query<{ repositoryId: Id; index: number }, { readonly id: Id; readonly isPull: number }> {
  const { columns, ids, dialect } = context
  const isPull = kind === undefined ? flag(dialect, table.pullRequest) : dialect.number(sql`1`)
  return compiled(context, (given) => {
    const repository = sql`${sql.id(table.repository)} = ${ids.given('repository', given('repositoryId'))}`
    // The number may be larger than the column can hold: it is compared as it is.
    const number = sql`${sql.id(table.number)} = cast(${given('index')} as ${dialect.casts.integer})`
    return sql`select ${columns.id(table.id ?? 'id')} as id, ${isPull} as ${sql.id('isPull')} from ${named(table)} where ${repository} and ${number}${also(table.where)}`
  })
}

function memberPorts<Tx>(
  context: SqlContext,
  { members, organizations }: HostTables,
  runtime: SqlRuntime<Tx>,
): Partial<HostPorts<Tx>> {
  const find = memberQuery(context, { isGuarded: false })
  if (members === undefined || organizations === undefined || find === undefined) return {}
  const { ids, dialect } = context
  const id = sql.id(organizations.id ?? 'id')
  const standing = compiled<{ organizationId: Id; actorId: Id | null }, StandingRow>(context, (given) => {
    const columns = standingOf(
      dialect,
      members,
      sql`organization.${id}`,
      ids.given('user', given('actorId')),
      flag(dialect, organizations.private),
    )
    return sql`select ${columns} from ${named(organizations)} as organization where organization.${id} = ${ids.given('organization', given('organizationId'))}${also(organizations.where)}`
  })
  return {
    isMember: (member, { transaction }) =>
      runtime.read((session) => after(session.first(find(member)), (row) => row !== undefined), transaction),
    standingInOrganization: (organizationId, port) =>
      runtime.read(
        (session) =>
          after(session.first(standing({ organizationId, actorId: actorIdIn(port) })), (row) => row && toStanding(row)),
        port.transaction,
      ),
  }
}

/** The id of the user who asks; null for anyone else. */
function actorIdIn<Tx>({ actor }: HostContext<Tx>): Id | null {
  if (typeof actor !== 'object' || actor === null || !('id' in actor)) return null
  const { id } = actor
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' ? toId(id, 'actor.id') : null
}
