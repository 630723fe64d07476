import type { Caller, Id, IssueQuery, PortContext } from 'forgelet'
import type { Steps } from '../steps.ts'
import { wait } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'
import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'
import type { HostContext, Row } from './tables.ts'

/** The context of a call of the tracker. */
export type TrackerContext<Tx> = PortContext<Caller<StandaloneUser>, Tx>

/** Issues of a repository, by their numbers. */
export interface Numbered {
  readonly repositoryId: Id
  readonly numbers: readonly number[]
}

/** What is read of an issue. */
export type IssueRow = Pick<Row<'issues'>, 'number' | 'kind' | 'record'>

/** What is read of a comment. */
export type CommentRow = Pick<Row<'comments'>, 'id' | 'record'>

/** A row of an issue, without its record if that is long. */
type ListedRow = Omit<IssueRow, 'record'> & { readonly record: string | null }

/** The longest record of an issue, in bytes, that is read together with others. */
const LONG_RECORD = 100_000

/** Reads the rows of issues and of their comments. */
export interface IssueRows<Tx> {
  /**
   * Returns issues and pull requests in ascending order of their numbers. Of the next ones above a number, it returns those
   * before the first one with a long record, which comes alone: a few hundred long records would not fit into memory.
   */
  issues(query: IssueQuery, context: TrackerContext<Tx>): Steps<readonly IssueRow[]>
  /** Returns the comments of issues, ordered by issue, oldest first. */
  comments(of: Numbered, context: TrackerContext<Tx>): Steps<readonly CommentRow[]>
}

/** Creates the reader of a database. */
export function issueRows<Tx>(database: HostDatabase<Tx>): IssueRows<Tx> {
  const { dialect, forms, table } = database.context
  const listed = <R>(repositoryId: Id, record: Sql, condition: Sql, end: Sql): Sql<R> =>
    sql<R>`select ${forms.number(raw('issues.number'))} as number, kind, ${record} as record
      from ${table('issues')} as issues where repository_id = ${idOf(repositoryId)} and ${condition}
      order by issues.number${end}`
  const numbered = ({ repositoryId, numbers }: Numbered): Sql<IssueRow> => {
    const condition = sql`issues.number in ${numbersIn(database.context, numbers)}`
    return listed(repositoryId, raw('issues.record'), condition, raw(''))
  }
  const next = ({ repositoryId, after, limit }: Exclude<IssueQuery, Numbered>): Sql<ListedRow> => {
    const short = raw(`case when octet_length(issues.record) <= ${LONG_RECORD} then issues.record end`)
    // SQLite prepares a statement again each time whose limit is a parameter alone.
    const atMost = sql` limit ${dialect === 'sqlite' ? sql`cast(${limit} as integer)` : limit}`
    return listed(repositoryId, short, sql`issues.number > ${after}`, atMost)
  }

  return {
    *issues(query, { transaction }) {
      const found = yield* wait(database.rows('numbers' in query ? numbered(query) : next(query), transaction))
      const rows: IssueRow[] = []
      for (const { record, ...row } of found) {
        if (record !== null) rows.push({ ...row, record })
        else if (rows.length > 0) break
        else {
          const alone = numbered({ repositoryId: query.repositoryId, numbers: [row.number] })
          return yield* wait(database.rows(alone, transaction))
        }
      }
      return rows
    },

    comments: ({ repositoryId, numbers }, { transaction }) =>
      wait(
        database.rows(
          sql<CommentRow>`select ${forms.number(raw('comments.id'))} as id, record from ${table('comments')} as comments
            where repository_id = ${idOf(repositoryId)} and issue_number in ${numbersIn(database.context, numbers)}
            order by issue_number, created_at, comments.id`,
          transaction,
        ),
      ),
  }
}

/** Returns numbers as the list of an `in`. */
export function numbersIn({ forms }: HostContext, numbers: readonly number[]): Sql {
  return forms.elements(JSON.stringify(numbers), 'integer')
}
