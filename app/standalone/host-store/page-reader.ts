import type { Id, LabelRecord, MaybePromise, MilestoneRecord } from 'forgelet'
import { after } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { StoredIssue } from './issue-records.ts'
import { assigneesOf } from './issue-records.ts'
import { idOf, NO_ID } from './roles.ts'
import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'
import type { HostContext, Row } from './tables.ts'

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
  readonly #statements: ReturnType<typeof pageStatements>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#statements = pageStatements(database.context)
  }

  /** Returns accounts in the order of the ids, with undefined for an unknown id. */
  accounts(ids: readonly Id[]): MaybePromise<readonly (Row<'accounts'> | undefined)[]> {
    return after(this.#database.rows(this.#statements.accounts(ids.map(idOf))), (rows) => {
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
    const asked = ids.map(idOf)
    const { issues, repositories, shownAccounts, milestones, accounts, labels } = this.#statements
    const statements = [issues(asked), repositories(asked), shownAccounts(asked, viewerId), milestones(asked)] as const
    return after(this.#database.rowsOfEach(statements), ([rows, repositoryRows, shown, milestoneRows]) => {
      const records = new Map(rows.map(({ id, record }): [number, StoredIssue] => [id, JSON.parse(record)]))
      const assigneeIds = [...records.values()].flatMap(assigneesOf)
      const labelIds = [...records.values()].flatMap((record) => record.labels ?? [])
      const lists = [accounts(assigneeIds), labels(labelIds)] as const
      const hasLists = assigneeIds.length > 0 || labelIds.length > 0
      return after(hasLists ? this.#database.rowsOfEach(lists) : NO_ROWS, ([assignees, labelRows]) => {
        const [found, people, named] = [byId(rows), byId([...shown, ...assignees]), byId(labelRows)]
        const [owned, goals] = [byId(repositoryRows), byId(milestoneRows)]
        return asked.map((id): IssueDetails | undefined => {
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

/** The statements of a page, by the ids that it lists. */
function pageStatements({ forms, tables, columnsOf }: HostContext) {
  const { accounts, issues, labels, milestones, repositories } = tables
  const listed = (ids: readonly number[]): Sql => forms.elements(JSON.stringify(ids), 'integer')
  const ofPage = (column: string, ids: readonly number[]): Sql =>
    sql`select ${raw(`listed.${column}`)} from ${issues} as listed where listed.id in ${listed(ids)}`
  const count = (condition: Sql): Sql => forms.number(sql`(select count(*) from ${issues} where ${condition})`)
  const open = (kind: Row<'issues'>['kind']): Sql =>
    count(raw(`repository_id = repositories.id and state = 'open' and kind = '${kind}'`))
  const having = (state: Row<'issues'>['state']): Sql =>
    count(raw(`milestone_id = milestones.id and state = '${state}'`))

  return {
    accounts: (ids: readonly number[]) =>
      sql<
        Row<'accounts'>
      >`select ${columnsOf('accounts')} from ${accounts} as accounts where accounts.id in ${listed(ids)}`,
    labels: (ids: readonly number[]) =>
      sql<Row<'labels'>>`select ${columnsOf('labels')} from ${labels} as labels where labels.id in ${listed(ids)}`,
    issues: (ids: readonly number[]) =>
      sql<Row<'issues'>>`select ${columnsOf('issues')} from ${issues} as issues where issues.id in ${listed(ids)}`,
    repositories: (ids: readonly number[]) =>
      sql<ShownRepository>`select ${columnsOf('repositories')}, ${open('issue')} as open_issues,
        ${open('pullRequest')} as open_pull_requests
        from ${repositories} as repositories where repositories.id in (${ofPage('repository_id', ids)})`,
    milestones: (ids: readonly number[]) =>
      sql<CountedMilestone>`select ${columnsOf('milestones')}, ${having('open')} as open_issues,
        ${having('closed')} as closed_issues
        from ${milestones} as milestones where milestones.id in (${ofPage('milestone_id', ids)})`,
    // A join: MariaDB would run a union behind `in` again for each account.
    shownAccounts: (ids: readonly number[], viewerId: number) =>
      sql<Row<'accounts'>>`select ${columnsOf('accounts')} from (
        select listed.poster_id as shown_id from ${issues} as listed where listed.id in ${listed(ids)}
        union select repositories.owner_id from ${issues} as listed
          join ${repositories} as repositories on repositories.id = listed.repository_id where listed.id in ${listed(ids)}
        union select cast(${viewerId} as ${raw(forms.integer)})
      ) as shown join ${accounts} as accounts on accounts.id = shown.shown_id`,
  }
}
