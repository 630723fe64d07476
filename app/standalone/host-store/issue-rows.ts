import type { Caller, Id, IssueQuery, MaybePromise, PortContext } from 'forgelet'
import type { Compilable, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SyncOrAsync } from '../../../src/schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../../src/schema/sync-or-async.ts'
import { compileStatement } from '../../../src/storage/sql/query.ts'
import type { HostDatabase } from './host-database.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'
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
  *issues(query: IssueQuery, context: TrackerContext<Tx>): SyncOrAsync<readonly IssueRow[]> {
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
  comments({ repositoryId, numbers }: Numbered, context: TrackerContext<Tx>): SyncOrAsync<readonly CommentRow[]> {
    const { build, columns } = this.#context
    const comments = build
      .selectFrom('comments')
      .select([columns.number('id').as('id'), 'record'])
      .where('repository_id', '=', idOf(repositoryId))
      .where('issue_number', 'in', elements(this.#context, numbers))
      .orderBy('issue_number')
      .orderBy('created_at')
      .orderBy('comments.id')
    return this.#all(comments, context)
  }

  #numbered({ repositoryId, numbers }: Numbered): Compilable<IssueRow> {
    return this.#listed(repositoryId).select('record').where('number', 'in', elements(this.#context, numbers))
  }

  #next({ repositoryId, after, limit }: Exclude<IssueQuery, Numbered>): Compilable<ListedRow> {
    const length = sql`octet_length(${sql.ref('record')})`
    const short = sql<string | null>`case when ${length} <= ${sql.lit(LONG_RECORD)} then ${sql.ref('record')} end`
    return this.#listed(repositoryId).select(short.as('record')).where('number', '>', after).limit(limit)
  }

  #listed(repositoryId: Id) {
    const { build, columns } = this.#context
    return build
      .selectFrom('issues')
      .select([columns.number('number').as('number'), 'kind'])
      .where('repository_id', '=', idOf(repositoryId))
      .orderBy('issues.number')
  }

  #all<R>(query: Compilable<R>, { transaction }: TrackerContext<Tx>): SyncOrAsync<readonly R[]> {
    return wait(this.#database.rows(compileStatement(query), transaction))
  }
}

/** Makes a method of a port from its steps. It answers at once if the database does. */
export function answered<A extends readonly unknown[], T>(
  steps: (...given: A) => SyncOrAsync<T>,
): (...given: A) => MaybePromise<T> {
  return (...given) => runMaybeAsync(steps(...given))
}

/** Returns numbers as the list of an `in`. */
export function elements({ dialect }: HostContext, numbers: readonly number[]): RawBuilder<number> {
  return sql<number>`${dialect.elements(sql.val(JSON.stringify(numbers)), dialect.casts.integer)}`
}
