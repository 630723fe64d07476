import type { Attribution, Id, MaybePromise, NamedPerson } from '../../index.ts'
import type { CommentRecord, IssueRecord } from '../../schema/issue-record.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import type { HostDatabase } from './host-database.ts'
import type { CommentRow, IssueRow, TrackerContext } from './issue-rows.ts'
import { IssueRows } from './issue-rows.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'
import type { StoredAccounts, StoredComment, StoredIssue } from './tables.ts'

type Named = Parameters<Attribution<StandaloneUser>['named']>[0]
type Change = Parameters<Attribution<StandaloneUser>['attribute']>[0]

/**
 * Returns the accounts of people whom a record names, as they are stored with it.
 *
 * @param people - each name and its account; null if it has none
 */
export function storedAccounts(
  people: readonly (readonly [name: string | undefined, id: Id | null | undefined])[],
): StoredAccounts | undefined {
  const known = people.flatMap(([name, id]): readonly [string, number][] => (name && id ? [[name, idOf(id)]] : []))
  return known.length === 0 ? undefined : [...new Map(known)]
}

/** The accounts of people whom issues and comments name. */
export class SqlAttribution<Tx> implements Attribution<StandaloneUser, Tx> {
  readonly #database: HostDatabase<Tx>
  readonly #rows: IssueRows<Tx>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#rows = new IssueRows(database)
  }

  named(query: Named, context: TrackerContext<Tx>): MaybePromise<readonly NamedPerson[]> {
    return runMaybeAsync(this.#named(query, context))
  }

  attribute(change: Change, context: TrackerContext<Tx>): MaybePromise<void> {
    return runMaybeAsync(this.#attribute(change, context))
  }

  /** Pull requests are passed over: none is imported. */
  *#named(query: Named, context: TrackerContext<Tx>): SyncOrAsync<readonly NamedPerson[]> {
    for (let after = query.after; ; ) {
      const rows = yield* this.#rows.issues({ ...query, after }, context)
      const issues = rows.filter(({ kind }) => kind === 'issue')
      const last = rows.at(-1)
      if (issues.length > 0 || last === undefined) {
        const numbers = issues.map(({ number }) => number)
        const comments = yield* this.#rows.comments({ repositoryId: query.repositoryId, numbers }, context)
        return byNumber([...issues.flatMap(peopleOfIssue), ...comments.flatMap(peopleOfComment)])
      }
      after = last.number
    }
  }

  *#attribute(change: Change, context: TrackerContext<Tx>): SyncOrAsync<void> {
    const given = new Map([...change.accounts].map(([name, id]): [string, number] => [name, idOf(id)]))
    const issues = yield* this.#rows.issues(change, context)
    const comments = yield* this.#rows.comments(change, context)
    const changes = [
      ...issues.flatMap((row) => this.#issueChange(idOf(change.repositoryId), row, given)),
      ...comments.flatMap((row) => this.#commentChange(row, given)),
    ]
    if (changes.length > 0) {
      yield* wait(this.#database.rowsOfEach<readonly unknown[]>(changes, context.transaction))
    }
  }

  #issueChange(repositoryId: number, row: IssueRow, given: ReadonlyMap<string, number>): readonly Statement<unknown>[] {
    const record: StoredIssue = JSON.parse(row.record)
    const { assignees = [], reactions = [] } = record
    const posterId = row.poster_is_author === 1 ? undefined : given.get(record.poster_name)
    const accounts = withMore(record.accounts, [...assignees, ...reactions.map(({ user_name }) => user_name)], given)
    if (posterId === undefined && accounts === undefined) return []

    const { build } = this.#database.context
    const known = new Map(accounts ?? record.accounts)
    const change = build
      .updateTable('issues')
      .set({
        ...(posterId !== undefined && { poster_id: posterId, poster_is_author: 1 }),
        assignee_ids: JSON.stringify([...new Set(assignees.flatMap((name) => known.get(name) ?? []))]),
        record: JSON.stringify({ ...record, accounts: accounts ?? record.accounts }),
      })
      .where('repository_id', '=', repositoryId)
      .where('number', '=', row.number)
    return [{ ...compileStatement(change), mayTakeLong: true }]
  }

  #commentChange({ id, record: text }: CommentRow, given: ReadonlyMap<string, number>): readonly Statement<unknown>[] {
    const record: StoredComment = JSON.parse(text)
    const { poster_name, reactions = [] } = record
    const accounts = withMore(record.accounts, [poster_name, ...reactions.map(({ user_name }) => user_name)], given)
    if (accounts === undefined) return []

    const { build } = this.#database.context
    const change = build
      .updateTable('comments')
      .set({ record: JSON.stringify({ ...record, accounts }) })
      .where('id', '=', id)
    return [{ ...compileStatement(change), mayTakeLong: true }]
  }
}

/** Adds the accounts of names that have none. Undefined: there is nothing to add. */
function withMore(
  accounts: StoredAccounts = [],
  names: readonly (string | undefined)[],
  given: ReadonlyMap<string, number>,
): StoredAccounts | undefined {
  const known = new Map(accounts)
  for (const name of names) {
    const id = name === undefined || known.has(name) ? undefined : given.get(name)
    if (name !== undefined && id !== undefined) known.set(name, id)
  }
  return known.size > accounts.length ? [...known] : undefined
}

function peopleOfIssue({ number, poster_is_author, record: text }: IssueRow): readonly NamedPerson[] {
  const record: StoredIssue = JSON.parse(text)
  const known = new Map(record.accounts)
  const assignees = record.assignees ?? []
  return [
    { number, part: 'issues', name: record.poster_name, hasAccount: poster_is_author === 1 },
    ...assignees.map((name) => ({ number, part: 'assignees', name, hasAccount: known.has(name) }) as const),
    ...reactorsOf(number, record, known),
  ]
}

function peopleOfComment({ issue_number: number, record: text }: CommentRow): readonly NamedPerson[] {
  const record: StoredComment = JSON.parse(text)
  const known = new Map(record.accounts)
  const name = record.poster_name
  return [{ number, part: 'comments', name, hasAccount: known.has(name) }, ...reactorsOf(number, record, known)]
}

function reactorsOf(
  number: number,
  { reactions = [] }: Pick<IssueRecord | CommentRecord, 'reactions'>,
  known: ReadonlyMap<string, number>,
): readonly NamedPerson[] {
  return reactions.flatMap(({ user_name: name }) =>
    name ? [{ number, part: 'reactions', name, hasAccount: known.has(name) } as const] : [],
  )
}

function byNumber(people: readonly NamedPerson[]): readonly NamedPerson[] {
  return people.toSorted((one, other) => one.number - other.number)
}
