import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'
import type { FoundRepository, HostPorts, Standing } from '../../contract/host.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import type { SqlRuntime } from '../session.ts'
import type { Comparison, Found } from './lookups.ts'
import { compiled, EXACTLY, firstOf, rowOfName, WITHOUT_CASE } from './lookups.ts'
import type { StandingRow } from './members.ts'
import { actorIdIn, flag, standingOf, toStanding } from './members.ts'
import { also, named } from './references.ts'
import type { HostTable, HostTables, IssueTable } from './tables.ts'

/** Which repository is wanted, for whom, and which of its issues. */
interface WantedRepository {
  readonly owner: string
  readonly name: string
  readonly actorId: Id | null
  readonly index: number
}

interface RepositoryRow extends StandingRow, Found {
  readonly issueId: Id | null
  readonly pullRequestId: Id | null
}

interface IssueRow {
  readonly id: Id
  readonly isPull: number
}

/** What was read together with a repository. */
interface Beside {
  readonly repositoryId: Id
  readonly actorId: Id | null
  readonly standing: Standing
  readonly index: number | undefined
  readonly issue: { readonly id: Id; readonly kind: PinKind } | undefined
}

/** Returns the ports that look for repositories and issues. One statement finds what a request asks for in a repository. */
export function repositoryPorts<Tx>(
  context: SqlContext,
  tables: HostTables,
  runtime: SqlRuntime<Tx>,
): Partial<HostPorts<Tx>> {
  const { repositories, issues, pullRequests } = tables
  const { ids, columns, dialect } = context
  /** What was read beside the repositories that were returned. */
  const found = new WeakMap<object, Beside>()
  const issueQueries = [
    ...(issues === undefined ? [] : [issueQuery(context, issues, undefined)]),
    ...(pullRequests === undefined ? [] : [issueQuery(context, pullRequests, 'pullRequest')]),
  ]

  const findIssue: HostPorts<Tx>['findIssue'] = (repositoryId, index, { transaction, repository }) => {
    const beside = repository && found.get(repository)
    if (beside?.repositoryId === repositoryId && beside.index === index)
      return beside.issue && { repositoryId, ...beside.issue }
    return runtime.read((session) => {
      const toIssue = (row: IssueRow | undefined) =>
        row && { id: row.id, repositoryId, kind: row.isPull === 1 ? ('pullRequest' as const) : ('issue' as const) }
      return firstOf(issueQueries.map((find) => () => after(session.first(find({ repositoryId, index })), toIssue)))
    }, transaction)
  }
  if (repositories === undefined) return issues === undefined ? {} : { findIssue }

  const sources = repositoryRows(context, tables, repositories)
  const byName = (compare: Comparison) =>
    compiled<WantedRepository, RepositoryRow>(context, (given) => {
      const [owner, name] = (['owner', 'name'] as const).map((one) => ids.givenText(given(one)))
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
        const toRepository = (rows: readonly RepositoryRow[]): FoundRepository | undefined => {
          const row = rowOfName(rows)
          if (row === undefined) return undefined
          const repository = { id: row.id }
          const [standing, issue] = [toStanding(row), issueOf(row)]
          found.set(repository, { repositoryId: row.id, actorId, standing, index: issues && index, issue })
          return repository
        }
        return firstOf(queries.map((find) => () => after(session.all(find(wanted)), toRepository)))
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

/** The columns of the owner in the join. Conditions name columns of the repositories without their table, so no host may have these names. */
const OWNER = { id: sql.id('forgelet_owner_id'), name: sql.id('forgelet_owner_name') }

function repositoryRows(
  { dialect }: SqlContext,
  { users, organizations, members }: HostTables,
  repositories: NonNullable<HostTables['repositories']>,
): readonly RepositorySource[] {
  const source = (owner: HostTable & { readonly name?: string | undefined }, column: string) => ({
    from: sql`${named(repositories)} as repository join (select ${sql.id(owner.id ?? 'id')} as ${OWNER.id}, ${sql.id(owner.name ?? 'name')} as ${OWNER.name} from ${named(owner)}${owner.where === undefined ? sql`` : sql` where (${sql.raw(owner.where)})`}) as owner on owner.${OWNER.id} = ${sql.ref(`repository.${column}`)}`,
    ownerName: sql`owner.${OWNER.name}`,
    owners: (name: RawBuilder<unknown>) =>
      sql`select 1 from ${named(owner)} where ${dialect.exactly(sql.id(owner.name ?? 'name'))} = ${name}${also(owner.where)}`,
  })
  const isPrivate = flag(dialect, repositories.private)
  const { organization, user } = repositories.owner
  const owner = sql`owner.${OWNER.id}`
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
      : sql`(select ${columns.id(`issue.${table.id ?? 'id'}`)} from ${named(table)} as issue where ${sql.ref(`issue.${table.repository}`)} = ${repositoryId} and ${sql.ref(`issue.${table.number}`)} = ${index}${also(table.where)}${condition} limit 1)`
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
): Query<{ repositoryId: Id; index: number }, IssueRow> {
  const { columns, ids, dialect } = context
  const isPull = kind === undefined ? flag(dialect, table.pullRequest) : dialect.number(sql`1`)
  return compiled(context, (given) => {
    const repository = sql`${sql.id(table.repository)} = ${ids.given('repository', given('repositoryId'))}`
    // The number may be larger than the column can hold: it is compared as it is.
    const number = sql`${sql.id(table.number)} = cast(${given('index')} as ${dialect.casts.integer})`
    return sql`select ${columns.id(table.id ?? 'id')} as id, ${isPull} as ${sql.id('isPull')} from ${named(table)} where ${repository} and ${number}${also(table.where)}`
  })
}
