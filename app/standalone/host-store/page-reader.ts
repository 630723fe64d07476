import type { Id, LabelRecord, MaybePromise, MilestoneRecord } from 'forgelet'
import type { SqlStatement } from 'forgelet/storage'
import { after, answered, wait } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { StoredIssue } from './issue-records.ts'
import { assigneesOf } from './issue-records.ts'
import { idOf, NO_ID } from './roles.ts'
import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'
import type { Row, TableName } from './tables.ts'

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
export interface PageReader {
  /** Returns accounts in the order of the ids, with undefined for an unknown id. */
  accounts(ids: readonly Id[]): MaybePromise<readonly (Row<'accounts'> | undefined)[]>
  /**
   * Returns issues in the order of the ids, with undefined for an unknown id.
   *
   * @param viewerId - the user for whom they are read, whose account is returned with each
   */
  issues(ids: readonly Id[], viewerId: number): MaybePromise<readonly (IssueDetails | undefined)[]>
}

/** Creates the reader of a database. */
export function pageReader(database: HostDatabase): PageReader {
  const { forms, table, columnsOf } = database
  const reads = database.storage.database
  const list = (ids: readonly number[]): Sql => forms.elements(ids, 'integer')
  const rowsOf = <T extends TableName>(name: T, ids: readonly number[]): SqlStatement<Row<T>> =>
    database.statement(
      sql`select ${columnsOf(name)} from ${table(name)} as ${raw(name)} where ${raw(name)}.id in ${list(ids)}`,
    )
  const count = (condition: string): Sql =>
    forms.number(sql`(select count(*) from ${table('issues')} where ${raw(condition)})`)
  const open = (kind: Row<'issues'>['kind']): Sql =>
    count(`repository_id = repositories.id and state = 'open' and kind = '${kind}'`)
  const having = (state: Row<'issues'>['state']): Sql => count(`milestone_id = milestones.id and state = '${state}'`)

  return {
    accounts: (ids) =>
      after(reads.rows(rowsOf('accounts', ids.map(idOf))), (rows) => {
        const found = byId(rows)
        return ids.map((id) => found.get(idOf(id)))
      }),

    issues: answered(function* (ids, viewerId) {
      const asked = ids.map(idOf)
      const listed = sql`${table('issues')} as listed where listed.id in ${list(asked)}`
      const repositories = sql<ShownRepository>`select ${columnsOf('repositories')}, ${open('issue')} as open_issues,
        ${open('pullRequest')} as open_pull_requests from ${table('repositories')} as repositories
        where repositories.id in (select listed.repository_id from ${listed})`
      const milestones = sql<CountedMilestone>`select ${columnsOf('milestones')}, ${having('open')} as open_issues,
        ${having('closed')} as closed_issues from ${table('milestones')} as milestones
        where milestones.id in (select listed.milestone_id from ${listed})`
      // A join: MariaDB would run a union behind `in` again for each account.
      const accounts = sql<Row<'accounts'>>`select ${columnsOf('accounts')} from (
          select listed.poster_id as shown_id from ${listed}
          union select repositories.owner_id from ${table('issues')} as listed
            join ${table('repositories')} as repositories on repositories.id = listed.repository_id
            where listed.id in ${list(asked)}
          union select viewer.id from ${table('accounts')} as viewer where viewer.id = ${viewerId}
        ) as shown join ${table('accounts')} as accounts on accounts.id = shown.shown_id`
      const [rows, repositoryRows, shown, milestoneRows] = yield* wait(
        reads.rowsOfEach([
          rowsOf('issues', asked),
          database.statement(repositories),
          database.statement(accounts),
          database.statement(milestones),
        ] as const),
      )
      const records = new Map(rows.map(({ id, record }): [number, StoredIssue] => [id, JSON.parse(record)]))
      const assigneeIds = [...records.values()].flatMap(assigneesOf)
      const labelIds = [...records.values()].flatMap((record) => record.labels ?? [])
      const hasLists = assigneeIds.length > 0 || labelIds.length > 0
      const lists = [rowsOf('accounts', assigneeIds), rowsOf('labels', labelIds)] as const
      const [assignees, labelRows] = hasLists ? yield* wait(reads.rowsOfEach(lists)) : NO_ROWS

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
    }),
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
