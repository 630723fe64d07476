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

export type Row = Readonly<Record<string, unknown>>

/** Runs a statement in a transaction, or outside of any. */
export type RunStatement<Tx> = (sql: string, transaction: Tx | undefined) => MaybePromise<readonly Row[]>

/** The tables of the tracker. A record is JSON in base64, which needs no escape in a statement of any database. */
export const TRACKER_TABLES: readonly string[] = [
  'create table host_issues (repository_id varchar(64), number bigint, record text, primary key (repository_id, number))',
  'create table host_comments (repository_id varchar(64), number bigint, record text)',
]

/** A tracker of a host that keeps each issue and each comment as one row. */
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
    const [condition, limit] =
      'numbers' in query
        ? [`number in (${query.numbers.join()})`, query.numbers.length]
        : [`number > ${query.after}`, query.limit]
    return this.#read<IssueRecord>(
      'host_issues',
      repositoryId,
      `${condition} order by number limit ${limit}`,
      transaction,
    )
  }

  comments(
    { repositoryId, numbers }: { readonly repositoryId: string; readonly numbers: readonly number[] },
    { transaction }: PortContext<unknown, Tx>,
  ): MaybePromise<readonly CommentRecord[]> {
    return this.#read<CommentRecord>(
      'host_comments',
      repositoryId,
      `number in (${numbers.join()}) order by number`,
      transaction,
    )
  }

  findUsers(users: readonly unknown[]): readonly undefined[] {
    return users.map(() => undefined)
  }

  write(batch: IncomingBatch, { transaction }: PortContext<unknown, Tx>): MaybePromise<void> {
    const { repositoryId, create, update, comments } = batch
    const inserted = (table: string, number: number, record: object): string =>
      `insert into ${table} (repository_id, number, record) values ('${repositoryId}', ${number}, '${encoded(record)}')`
    return this.#all(
      [
        ...create.map(({ record }) => inserted('host_issues', record.number, record)),
        ...update.map(
          ({ record }) =>
            `update host_issues set record = '${encoded(record)}' where repository_id = '${repositoryId}' and number = ${record.number}`,
        ),
        ...comments.map(({ record }) => inserted('host_comments', record.issue_number, record)),
      ],
      transaction,
    )
  }

  #read<T>(table: string, repositoryId: string, condition: string, transaction: Tx | undefined) {
    const sql = `select record from ${table} where repository_id = '${repositoryId}' and ${condition}`
    return after(this.#run(sql, transaction), (rows): readonly T[] =>
      rows.map(({ record }) => JSON.parse(Buffer.from(String(record), 'base64').toString())),
    )
  }

  #all([first, ...rest]: readonly string[], transaction: Tx | undefined): MaybePromise<void> {
    if (first === undefined) return undefined
    return after(this.#run(first, transaction), () => this.#all(rest, transaction))
  }
}

function encoded(record: object): string {
  return Buffer.from(JSON.stringify(record)).toString('base64')
}
