import type {
  Attribution,
  Caller,
  CommentRecord,
  Id,
  IncomingBatch,
  IncomingIssue,
  IssueQuery,
  IssueRecord,
  IssueTracker,
  LabelRecord,
  MilestoneRecord,
  PortContext,
  TakenNumber,
} from 'forgelet'
import { ForgeError } from 'forgelet'
import { canonicalLabel, canonicalMilestone } from 'forgelet/exchange'
import { normalizeName } from '../credentials.ts'
import type { Steps } from '../steps.ts'
import { answered, wait } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { HostDirectory } from './host-directory.ts'
import type { StoredComment, StoredIssue } from './issue-records.ts'
import {
  attributed,
  authorOf,
  peopleIn,
  replacedComment,
  shownComment,
  shownIssue,
  storedComment,
  storedIssue,
} from './issue-records.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf, NO_ID, repositoryRoleOf, userIdOf } from './roles.ts'
import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'
import type { NewRow, Row } from './tables.ts'

/** Issues of a repository, by their numbers. */
interface Numbered {
  readonly repositoryId: Id
  readonly numbers: readonly number[]
}

/** A row of an issue, with its record, or without if that is long. */
type IssueRow<RecordText = string> = Pick<Row<'issues'>, 'number' | 'kind'> & { readonly record: RecordText }

/** The longest record of an issue, in bytes, that is read together with others. */
const LONG_RECORD = 100_000

/** Creates the tracker of the host: its issues, as the exchange of the forge reads and writes them. */
export function createTracker(database: HostDatabase, directory: HostDirectory): IssueTracker<StandaloneUser> {
  type Context = PortContext<Caller<StandaloneUser>, unknown>
  const { table, forms, integer, columnsOf, dialect } = database
  /** The rows of the comments that were returned, to replace them. */
  const returnedComments = new WeakMap<CommentRecord, { readonly id: number; readonly stored: StoredComment }>()

  const attribution: Attribution<StandaloneUser> = {
    /** Pull requests are passed over: none is imported. */
    named: answered(function* ({ repositoryId, after, limit }, context) {
      for (let last = after; ; ) {
        const found = yield* issueRows({ repositoryId, after: last, limit }, context)
        const issues = found.filter(({ kind }) => kind === 'issue')
        if (issues.length > 0 || found.length === 0) {
          const numbers = issues.map(({ number }) => number)
          const comments = yield* commentRows({ repositoryId, numbers }, context)
          const records: (StoredIssue | StoredComment)[] = [...issues, ...comments].map(({ record }) =>
            JSON.parse(record),
          )
          return records.flatMap(peopleIn).toSorted((one, other) => one.number - other.number)
        }
        last = found.at(-1)?.number ?? last
      }
    }),

    attribute: answered(function* ({ repositoryId, numbers, accounts }, context) {
      const given = new Map([...accounts].map(([name, id]) => [name, idOf(id)]))
      const changes: Sql[] = []
      for (const { number, record: text } of yield* issueRows({ repositoryId, numbers }, context)) {
        const record = attributed<StoredIssue>(JSON.parse(text), given)
        if (record === undefined) continue
        const author = authorOf(record)
        const poster = author === undefined ? raw('') : sql`poster_id = ${author}, `
        changes.push(sql`update ${table('issues')} set ${poster}record = ${JSON.stringify(record)}
          where repository_id = ${idOf(repositoryId)} and number = ${number}`)
      }
      for (const { id, record: text } of yield* commentRows({ repositoryId, numbers }, context)) {
        const record = attributed<StoredComment>(JSON.parse(text), given)
        if (record !== undefined) changes.push(commentUpdate(id, record))
      }
      yield* change(changes, context)
    }),
  }

  return {
    issues: answered(function* (query, context) {
      const rows = yield* issueRows(query, context)
      if (rows.length === 0) return []

      const found = rows.map(({ number, kind, record }): StoredIssue | TakenNumber =>
        kind === 'issue' ? JSON.parse(record) : { number, taken: true },
      )
      const labels = yield* labelsOf(query.repositoryId, context)
      const showsEmail = yield* mayShowEmail(query.repositoryId, context)
      return found.map((one) => ('taken' in one ? one : visible(shownIssue(one, labels), showsEmail)))
    }),

    comments: answered(function* (query, context) {
      const rows = yield* commentRows(query, context)
      const showsEmail = yield* mayShowEmail(query.repositoryId, context)
      return rows.map(({ id, record: text }) => {
        const stored: StoredComment = JSON.parse(text)
        const shown = visible(shownComment(stored), showsEmail)
        returnedComments.set(shown, { id, stored })
        return shown
      })
    }),

    labelsAndMilestones: answered(function* ({ repositoryId }, context) {
      const labels = yield* all(inRepository('labels', idOf(repositoryId)), context)
      const milestones = yield* all(inRepository('milestones', idOf(repositoryId)), context)
      return {
        labels: labels.map(({ record }): LabelRecord => JSON.parse(record)),
        milestones: milestones.map(({ record }): MilestoneRecord => JSON.parse(record)),
      }
    }),

    /** People are found by their names alone. */
    findUsers: answered(function* (users, context) {
      const names = users.map(({ name }) => normalizeName(name))
      const accounts = sql<Pick<Row<'accounts'>, 'id' | 'folded_name'>>`select ${integer('id')}, folded_name
        from ${table('accounts')} where kind = 'user' and folded_name in ${forms.elements(names, 'text')}`
      const rows = yield* all(accounts, context)
      const ids = new Map(rows.map(({ id, folded_name }) => [folded_name, String(id)]))
      return names.map((name) => ids.get(name))
    }),

    write: answered(write),
    attribution,
  }

  /** What has no account here is posted by who imports, or by the owner of the repository. */
  function* write(batch: IncomingBatch, context: Context): Steps<void> {
    const repository_id = idOf(batch.repositoryId)
    const owner = sql<Pick<Row<'repositories'>, 'owner_id'>>`select ${integer('owner_id')}
      from ${table('repositories')} where id = ${repository_id}`
    const [repository] = yield* all(owner, context)
    if (repository === undefined) throw new ForgeError('REPOSITORY_NOT_FOUND', 'repository not found')

    const labelIds = yield* idsByName('labels', repository_id, batch.labels.map(namedLabel), context)
    const milestoneIds = yield* idsByName('milestones', repository_id, batch.milestones.map(namedMilestone), context)
    const importerId = userIdOf(context.actor)
    const contentOf = (issue: IncomingIssue) => {
      const { state, milestone } = issue.record
      const record = storedIssue(issue, labelIds)
      return {
        state,
        poster_id: authorOf(record) ?? (importerId === NO_ID ? repository.owner_id : importerId),
        milestone_id: (milestone && milestoneIds.get(milestone)) || null,
        record: JSON.stringify(record),
      }
    }

    const counts = new Map<number, number>()
    for (const { record } of batch.comments) counts.set(record.issue_number, (counts.get(record.issue_number) ?? 0) + 1)
    const created = batch.create.map((issue): NewRow<'issues'> => {
      const { number } = issue.record
      const comment_count = counts.get(number) ?? 0
      counts.delete(number)
      return { repository_id, number, kind: 'issue', comment_count, branch: '', ...contentOf(issue) }
    })
    const comments = batch.comments.map((comment): NewRow<'comments'> => {
      const record = JSON.stringify(storedComment(comment))
      return {
        repository_id,
        issue_number: comment.record.issue_number,
        created_at: comment.createdAt.getTime(),
        record,
      }
    })
    const described =
      (kind: 'labels' | 'milestones', ids: ReadonlyMap<string, number>) =>
      ({ name, record }: Named): Sql =>
        sql`update ${table(kind)} set record = ${record} where id = ${ids.get(name) ?? NO_ID}`
    const changes = [
      ...batch.commentUpdates.flatMap((comment) => {
        const row = returnedComments.get(comment.previous)
        return row === undefined ? [] : commentUpdate(row.id, replacedComment(comment, row.stored))
      }),
      ...batch.labelUpdates.map(namedLabel).map(described('labels', labelIds)),
      ...batch.milestoneUpdates.map(namedMilestone).map(described('milestones', milestoneIds)),
      ...batch.update.map((issue) => {
        const { state, poster_id, milestone_id, record } = contentOf(issue)
        return sql`update ${table('issues')} set state = ${state}, poster_id = ${poster_id}, milestone_id = ${milestone_id},
          record = ${record} where repository_id = ${repository_id} and number = ${issue.record.number}`
      }),
      ...[...counts].map(
        ([number, count]) =>
          sql`update ${table('issues')} set comment_count = comment_count + ${raw(String(count))}
            where repository_id = ${repository_id} and number = ${number}`,
      ),
    ]
    yield* change(changes, context)
    yield* database.insert('issues', created, context.transaction)
    yield* database.insert('comments', comments, context.transaction)
  }

  /** Returns the ids of labels or milestones, by their names, after those that are missing have been made. */
  function* idsByName(
    kind: 'labels' | 'milestones',
    repository_id: number,
    named: readonly Named[],
    context: Context,
  ): Steps<ReadonlyMap<string, number>> {
    const rows = yield* all(inRepository(kind, repository_id), context)
    const ids = new Map(rows.toReversed().map(({ id, name }) => [name, id])) // the first of several with one name
    const missing = new Map<string, NewRow<'labels'>>()
    for (const { name, record } of named) {
      if (!ids.has(name) && !missing.has(name)) missing.set(name, { repository_id, name, record })
    }
    const newIds = yield* database.insert(kind, [...missing.values()], context.transaction)
    for (const [at, name] of [...missing.keys()].entries()) ids.set(name, newIds[at] ?? NO_ID)
    return ids
  }

  function* labelsOf(repositoryId: Id, context: Context): Steps<ReadonlyMap<number, LabelRecord>> {
    const rows = yield* all(inRepository('labels', idOf(repositoryId)), context)
    return new Map(rows.map(({ id, record }): [number, LabelRecord] => [id, JSON.parse(record)]))
  }

  function inRepository(kind: 'labels' | 'milestones', repositoryId: number): Sql<Row<'labels'>> {
    return sql<Row<'labels'>>`select ${columnsOf(kind)} from ${table(kind)} as ${raw(kind)}
      where repository_id = ${repositoryId} order by ${raw(kind)}.id`
  }

  /**
   * Returns issues and pull requests in ascending order of their numbers. Of the next ones above a number, it returns those
   * before the first one with a long record, which comes alone: a few hundred long records would not fit into memory.
   */
  function* issueRows(query: IssueQuery, context: Context): Steps<readonly IssueRow[]> {
    if ('numbers' in query) return yield* all(numbered(query), context)

    const { repositoryId, after, limit } = query
    const short = raw(`case when octet_length(issues.record) <= ${LONG_RECORD} then issues.record end`)
    // SQLite prepares a statement again each time whose limit is a parameter alone.
    const atMost = sql` limit ${dialect === 'sqlite' ? sql`cast(${limit} as integer)` : limit}`
    const next = listed<string | null>(repositoryId, short, sql`issues.number > ${after}`, atMost)
    const rows: IssueRow[] = []
    for (const { record, ...row } of yield* all(next, context)) {
      if (record !== null) rows.push({ ...row, record })
      else if (rows.length > 0) break
      else return yield* all(numbered({ repositoryId, numbers: [row.number] }), context)
    }
    return rows
  }

  function numbered({ repositoryId, numbers }: Numbered): Sql<IssueRow> {
    const condition = sql`issues.number in ${forms.elements(numbers, 'integer')}`
    return listed(repositoryId, raw('issues.record'), condition, raw(''))
  }

  function listed<Text>(repositoryId: Id, record: Sql, condition: Sql, end: Sql): Sql<IssueRow<Text>> {
    return sql`select ${integer('issues.number')}, kind, ${record} as record
      from ${table('issues')} as issues where repository_id = ${idOf(repositoryId)} and ${condition}
      order by issues.number${end}`
  }

  /** Returns the comments of issues, ordered by issue, oldest first. */
  function commentRows({ repositoryId, numbers }: Numbered, context: Context) {
    const comments = sql<Pick<Row<'comments'>, 'id' | 'record'>>`select ${integer('comments.id')}, record
      from ${table('comments')} as comments
      where repository_id = ${idOf(repositoryId)} and issue_number in ${forms.elements(numbers, 'integer')}
      order by issue_number, created_at, comments.id`
    return all(comments, context)
  }

  function commentUpdate(id: number, record: StoredComment): Sql {
    return sql`update ${table('comments')} set record = ${JSON.stringify(record)} where id = ${id}`
  }

  /** E-mail addresses are for the admins of the repository and of the site. Source: docs/behaviour.md, The standalone server */
  function* mayShowEmail(repositoryId: Id, { actor, transaction }: Context): Steps<boolean> {
    if (typeof actor === 'string') return actor === 'system'

    const standing = yield* wait(directory.standing({ action: 'issues.export', repositoryId }, actor, transaction))
    return standing.is_site_admin === 1 || repositoryRoleOf(standing) === 'admin'
  }

  function all<R>(part: Sql<R>, { transaction }: Context): Steps<readonly R[]> {
    return wait(database.rows(part, transaction))
  }

  function change(changes: readonly Sql[], { transaction }: Context): Steps<unknown> {
    return wait(database.change(changes, transaction))
  }
}

/** A label or a milestone, and the name by which it is found. */
type Named = Pick<NewRow<'labels'>, 'name' | 'record'>

function namedLabel(label: LabelRecord): Named {
  return { name: label.name, record: JSON.stringify(canonicalLabel(label)) }
}

/** Keeps a milestone in the form that a canonical document has: without what is empty, and with times in UTC. */
function namedMilestone(milestone: MilestoneRecord): Named {
  return { name: milestone.title, record: JSON.stringify(canonicalMilestone(milestone)) }
}

/** Leaves the address of the author out if the caller may not see it. */
function visible<R extends IssueRecord | CommentRecord>(record: R, showsEmail: boolean): R {
  if (!showsEmail) delete record.poster_email
  return record
}
