import type {
  Actor,
  CommentRecord,
  IncomingBatch,
  IssueRecord,
  IssueTracker,
  MaybePromise,
  PortContext,
  TakenNumber,
} from '../../../src/index.ts'
import { after } from '../../../src/schema/sync-or-async.ts'

/** Runs a statement with values for its `?`: in a transaction, or outside of any. */
export type RunStatement<Tx> = (
  sql: string,
  values: readonly unknown[],
  transaction: Tx | undefined,
) => MaybePromise<readonly Record<string, unknown>[]>

/** The tables of the tracker. `TEXT_TYPE` is a type for long texts. */
export const TRACKER_TABLES: readonly string[] = [
  'create table tracked_issues (repository_id varchar(64), number bigint, record TEXT_TYPE, primary key (repository_id, number))',
  'create table tracked_comments (repository_id varchar(64), number bigint, record TEXT_TYPE)',
]

/** A tracker of a host that keeps each issue and each comment as one row of JSON. */
export class RowTracker<A extends Actor, Tx> implements IssueTracker<A, Tx> {
  readonly #run: RunStatement<Tx>

  constructor(run: RunStatement<Tx>) {
    this.#run = run
  }

  issues(
    query: Parameters<IssueTracker<A, Tx>['issues']>[0],
    { transaction }: PortContext<unknown, Tx>,
  ): MaybePromise<readonly (IssueRecord | TakenNumber)[]> {
    const { repositoryId } = query
    const [condition, values, limit] =
      'numbers' in query
        ? [`number in (${query.numbers.map(() => '?').join()})`, query.numbers, query.numbers.length]
        : ['number > ?', [query.after], query.limit]
    const sql = `select record from tracked_issues where repository_id = ? and ${condition} order by number limit ${limit}`
    return after(this.#run(sql, [repositoryId, ...values], transaction), recordsIn<IssueRecord>)
  }

  comments(
    { repositoryId, numbers }: { readonly repositoryId: string; readonly numbers: readonly number[] },
    { transaction }: PortContext<unknown, Tx>,
  ): MaybePromise<readonly CommentRecord[]> {
    const sql = `select record from tracked_comments where repository_id = ? and number in (${numbers.map(() => '?').join()}) order by number`
    return after(this.#run(sql, [repositoryId, ...numbers], transaction), recordsIn<CommentRecord>)
  }

  findUsers(users: readonly unknown[]): readonly undefined[] {
    return users.map(() => undefined)
  }

  write(batch: IncomingBatch, { transaction }: PortContext<unknown, Tx>): MaybePromise<void> {
    const { repositoryId, create, update, comments } = batch
    const inserted = (table: string, number: number, record: object): Statement => [
      `insert into ${table} (repository_id, number, record) values (?, ?, ?)`,
      [repositoryId, number, JSON.stringify(record)],
    ]
    return this.#all(
      [
        ...create.map(({ record }) => inserted('tracked_issues', record.number, record)),
        ...update.map(
          ({ record }): Statement => [
            'update tracked_issues set record = ? where repository_id = ? and number = ?',
            [JSON.stringify(record), repositoryId, record.number],
          ],
        ),
        ...comments.map(({ record }) => inserted('tracked_comments', record.issue_number, record)),
      ],
      transaction,
    )
  }

  #all([first, ...rest]: readonly Statement[], transaction: Tx | undefined): MaybePromise<void> {
    if (first === undefined) return undefined
    return after(this.#run(...first, transaction), () => this.#all(rest, transaction))
  }
}

type Statement = readonly [sql: string, values: readonly unknown[]]

function recordsIn<T>(rows: readonly Record<string, unknown>[]): readonly T[] {
  return rows.map(({ record }) => JSON.parse(String(record)))
}
