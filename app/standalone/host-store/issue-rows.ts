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
export class IssueRows<Tx> {
  readonly #database: HostDatabase<Tx>
  readonly #context: HostContext

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#context = database.context
  }

  /**
   * Returns issues and pull requests in ascending order of their numbers. Of the next ones above a number, it returns those
   * before the first one with a long record, which comes alone: a few hundred long records would not fit into memory.
   */
  *issues(query: IssueQuery, context: TrackerContext<Tx>): Steps<readonly IssueRow[]> {
    const listed = yield* this.#all('numbers' in query ? this.#numbered(query) : this.#next(query), context)
    const rows: IssueRow[] = []
    for (const { record, ...row } of listed) {
      if (record === null && rows.length > 0) break
      if (record === null) {
        return yield* this.#all(this.#numbered({ repositoryId: query.repositoryId, numbers: [row.number] }), context)
      }
      rows.push({ ...row, record })
    }
    return rows
  }

  /** Returns the comments of issues, ordered by issue, oldest first. */
  comments({ repositoryId, numbers }: Numbered, context: TrackerContext<Tx>): Steps<readonly CommentRow[]> {
    const { forms, tables } = this.#context
    return this.#all(
      sql<CommentRow>`select ${forms.number(raw('comments.id'))} as id, record from ${tables.comments} as comments
        where repository_id = ${idOf(repositoryId)} and issue_number in ${numbersIn(this.#context, numbers)}
        order by issue_number, created_at, comments.id`,
      context,
    )
  }

  #numbered({ repositoryId, numbers }: Numbered): Sql<IssueRow> {
    const condition = sql`issues.number in ${numbersIn(this.#context, numbers)}`
    return this.#listed<IssueRow>(repositoryId, raw('issues.record'), condition, raw(''))
  }

  #next({ repositoryId, after, limit }: Exclude<IssueQuery, Numbered>): Sql<ListedRow> {
    const short = raw(`case when octet_length(issues.record) <= ${LONG_RECORD} then issues.record end`)
    // SQLite prepares a statement again each time whose limit is a parameter alone.
    const atMost = sql` limit ${this.#context.dialect === 'sqlite' ? sql`cast(${limit} as integer)` : limit}`
    return this.#listed<ListedRow>(repositoryId, short, sql`issues.number > ${after}`, atMost)
  }

  #listed<R>(repositoryId: Id, record: Sql, condition: Sql, end: Sql): Sql<R> {
    const { forms, tables } = this.#context
    return sql<R>`select ${forms.number(raw('issues.number'))} as number, kind, ${record} as record
      from ${tables.issues} as issues where repository_id = ${idOf(repositoryId)} and ${condition}
      order by issues.number${end}`
  }

  #all<R>(part: Sql<R>, { transaction }: TrackerContext<Tx>): Steps<readonly R[]> {
    return wait(this.#database.rows(part, transaction))
  }
}

/** Returns numbers as the list of an `in`. */
export function numbersIn({ forms }: HostContext, numbers: readonly number[]): Sql {
  return forms.elements(JSON.stringify(numbers), 'integer')
}
