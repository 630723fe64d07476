import type { Id, LabelRecord, MaybePromise, MilestoneRecord } from 'forgelet'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { after } from '../../../src/schema/sync-or-async.ts'
import type { QueryValues } from '../../../src/storage/sql/query.ts'
import { defineQuery } from '../../../src/storage/sql/query.ts'
import type { HostDatabase } from './host-database.ts'
import type { StoredIssue } from './issue-records.ts'
import { assigneesOf } from './issue-records.ts'
import { idOf, NO_ID } from './roles.ts'
import type { HostContext, Row } from './tables.ts'
import { columnsOf } from './tables.ts'

/** A repository with what is open in it. */
type ShownRepository = Row<'repositories'> & { readonly open_issues: number; readonly open_pull_requests: number }

/** A label with its id. */
export type ShownLabel = LabelRecord & { readonly id: number }

/** A milestone with its id, and with what is in it. */
export type ShownMilestone = MilestoneRecord & Pick<CountedMilestone, 'id' | 'open_issues' | 'closed_issues'>

type CountedMilestone = Row<'milestones'> & { readonly open_issues: number; readonly closed_issues: number }

/** An issue or pull request with the related records that a response contains. */
export interface IssueDetails {
  readonly issue: Row<'issues'>
  readonly record: StoredIssue
  readonly repository: ShownRepository
  readonly owner: Row<'accounts'>
  readonly poster: Row<'accounts'>
  readonly labels: readonly ShownLabel[]
  readonly assignees: readonly Row<'accounts'>[]
  readonly milestone: ShownMilestone | undefined
  /** The user for whom the issue is read, if one is named. */
  readonly viewer: Row<'accounts'> | undefined
}

/** Reads what pages show, each kind of record in one statement. On SQLite every method answers at once. */
export class PageReader<Tx = unknown> {
  readonly #database: HostDatabase<Tx>
  readonly #queries: ReturnType<typeof pageQueries>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#queries = pageQueries(database.context)
  }

  /** Returns accounts in the order of the ids, with undefined for an unknown id. */
  accounts(ids: readonly Id[]): MaybePromise<readonly (Row<'accounts'> | undefined)[]> {
    return after(this.#database.rows(this.#queries.accounts({ ids: ids.map(idOf) })), (rows) => {
      const found = byId(rows)
      return ids.map((id) => found.get(idOf(id)))
    })
  }

  /**
   * Returns issues in the order of the ids, with undefined for an unknown id.
   *
   * @param viewerId - the user for whom they are read, whose account is returned with each
   */
  issues(ids: readonly Id[], viewerId: number): MaybePromise<readonly (IssueDetails | undefined)[]> {
    const asked = { ids: ids.map(idOf), viewerId }
    const { issues, repositories, shownAccounts, milestones, accounts, labels } = this.#queries
    const statements = [issues(asked), repositories(asked), shownAccounts(asked), milestones(asked)] as const
    return after(this.#database.rowsOfEach(statements), ([rows, repositoryRows, shown, milestoneRows]) => {
      const records = new Map(rows.map(({ id, record }): [number, StoredIssue] => [id, JSON.parse(record)]))
      const assigneeIds = [...records.values()].flatMap(assigneesOf)
      const labelIds = [...records.values()].flatMap((record) => record.labels ?? [])
      const lists = [accounts({ ids: assigneeIds }), labels({ ids: labelIds })] as const
      const hasLists = assigneeIds.length > 0 || labelIds.length > 0
      return after(hasLists ? this.#database.rowsOfEach(lists) : NO_ROWS, ([assignees, labelRows]) => {
        const [found, people, named] = [byId(rows), byId([...shown, ...assignees]), byId(labelRows)]
        const [owned, goals] = [byId(repositoryRows), byId(milestoneRows)]
        return asked.ids.map((id): IssueDetails | undefined => {
          const [issue, record] = [found.get(id), records.get(id)]
          const repository = owned.get(issue?.repository_id ?? NO_ID)
          const owner = people.get(repository?.owner_id ?? NO_ID)
          const poster = people.get(issue?.poster_id ?? NO_ID)
          if (!issue || !record || !repository || !owner || !poster) return undefined

          const itsLabels = new Set(record.labels) // a document may name a label of an issue twice
          const milestone = goals.get(issue.milestone_id ?? NO_ID)
          return {
            issue,
            record,
            repository,
            owner,
            poster,
            labels: [...itsLabels].flatMap((labelId) => named.get(labelId) ?? []).map(labelOf),
            assignees: assigneesOf(record).flatMap((userId) => people.get(userId) ?? []),
            milestone: milestone && milestoneOf(milestone),
            viewer: people.get(viewerId),
          }
        })
      })
    })
  }
}

const NO_ROWS = [[], []] as const

function labelOf({ id, record }: Row<'labels'>): ShownLabel {
  const label: LabelRecord = JSON.parse(record)
  return { id, ...label }
}

function milestoneOf({ id, record, open_issues, closed_issues }: CountedMilestone): ShownMilestone {
  const milestone: MilestoneRecord = JSON.parse(record)
  return { id, open_issues, closed_issues, ...milestone }
}

function byId<R extends { readonly id: number }>(rows: readonly R[]): ReadonlyMap<number, R> {
  return new Map(rows.map((row) => [row.id, row]))
}

interface PageIds {
  readonly ids: readonly number[]
}

function pageQueries(context: HostContext) {
  const { build, dialect } = context
  const listed = <P extends PageIds>(given: QueryValues<P>): RawBuilder<number> => idList(context, given)
  const ofPage = <P extends PageIds>(given: QueryValues<P>) =>
    build.selectFrom('issues as listed').where('listed.id', 'in', listed(given))
  const count = (condition: RawBuilder<unknown>): RawBuilder<number> =>
    dialect.number(sql`(select count(*) from ${sql.table('issues')} where ${condition})`)
  const open = (kind: Row<'issues'>['kind']) =>
    count(sql`repository_id = ${sql.ref('repositories.id')} and state = 'open' and kind = ${sql.lit(kind)}`)
  const having = (state: Row<'issues'>['state']) =>
    count(sql`milestone_id = ${sql.ref('milestones.id')} and state = ${sql.lit(state)}`)

  return {
    accounts: defineQuery((given: QueryValues<PageIds>) =>
      build.selectFrom('accounts').select(columnsOf(context, 'accounts')).where('accounts.id', 'in', listed(given)),
    ),
    labels: defineQuery((given: QueryValues<PageIds>) =>
      build.selectFrom('labels').select(columnsOf(context, 'labels')).where('labels.id', 'in', listed(given)),
    ),
    issues: defineQuery((given: QueryValues<PageIds>) =>
      build.selectFrom('issues').select(columnsOf(context, 'issues')).where('issues.id', 'in', listed(given)),
    ),
    repositories: defineQuery((given: QueryValues<PageIds>) =>
      build
        .selectFrom('repositories')
        .select(columnsOf(context, 'repositories'))
        .select([open('issue').as('open_issues'), open('pullRequest').as('open_pull_requests')])
        .where('repositories.id', 'in', ofPage(given).select('listed.repository_id')),
    ),
    milestones: defineQuery((given: QueryValues<PageIds>) =>
      build
        .selectFrom('milestones')
        .select(columnsOf(context, 'milestones'))
        .select([having('open').as('open_issues'), having('closed').as('closed_issues')])
        .where('milestones.id', 'in', ofPage(given).select('listed.milestone_id')),
    ),
    // A join: MariaDB would run a union behind `in` again for each account.
    shownAccounts: defineQuery((given: QueryValues<PageIds & { readonly viewerId: number }>) =>
      build
        .selectFrom(
          ofPage(given)
            .select('listed.poster_id as shown_id')
            .union(
              ofPage(given)
                .innerJoin('repositories', 'repositories.id', 'listed.repository_id')
                .select('repositories.owner_id as shown_id'),
            )
            .union(
              build.selectNoFrom(sql<number>`cast(${given('viewerId')} as ${dialect.casts.integer})`.as('shown_id')),
            )
            .as('shown'),
        )
        .innerJoin('accounts', 'accounts.id', 'shown.shown_id')
        .select(columnsOf(context, 'accounts')),
    ),
  }
}

/** The parameter `ids` as a list for `in`. */
function idList<P extends PageIds>({ dialect }: HostContext, given: QueryValues<P>): RawBuilder<number> {
  const json = given('ids').as((ids) => JSON.stringify(ids))
  return sql<number>`${dialect.elements(json, dialect.casts.integer)}`
}
