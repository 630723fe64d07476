import type {
  CommentRecord,
  Id,
  IncomingBatch,
  IncomingIssue,
  IssueRecord,
  IssueTracker,
  LabelRecord,
  MilestoneRecord,
  TakenNumber,
} from 'forgelet'
import { ForgeError } from 'forgelet'
import { canonicalLabel, canonicalMilestone } from 'forgelet/exchange'
import { normalizeName } from '../host-names.ts'
import type { Steps } from '../steps.ts'
import { answered, wait } from '../steps.ts'
import { createAttribution } from './attribution.ts'
import type { HostDatabase } from './host-database.ts'
import type { HostDirectory } from './host-directory.ts'
import type { StoredComment, StoredIssue } from './issue-records.ts'
import { authorOf, replacedComment, shownComment, shownIssue, storedComment, storedIssue } from './issue-records.ts'
import type { TrackerContext } from './issue-rows.ts'
import { issueRows, numbersIn } from './issue-rows.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf, NO_ID, repositoryRoleOf, userIdOf } from './roles.ts'
import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'
import type { NewRow, Row } from './tables.ts'

/** Creates the tracker of the host: its issues, as the exchange of the forge reads and writes them. */
export function createTracker<Tx>(
  database: HostDatabase<Tx>,
  directory: HostDirectory<Tx>,
): IssueTracker<StandaloneUser, Tx> {
  type Context = TrackerContext<Tx>
  const { context: host } = database
  const { table, forms, columnsOf } = host
  const stored = issueRows(database)
  /** The rows of the comments that were returned, to replace them. */
  const returnedComments = new WeakMap<CommentRecord, { readonly id: number; readonly stored: StoredComment }>()

  return {
    issues: answered(function* (query, context) {
      const rows = yield* stored.issues(query, context)
      const found = rows.map(({ number, kind, record }): StoredIssue | TakenNumber =>
        kind === 'issue' ? JSON.parse(record) : { number, taken: true },
      )
      const labels = yield* labelsOf(found, context)
      const showsEmail = yield* mayShowEmail(query.repositoryId, context)
      return found.map((one) => ('taken' in one ? one : visible(shownIssue(one, labels), showsEmail)))
    }),

    comments: answered(function* (query, context) {
      const rows = yield* stored.comments(query, context)
      const showsEmail = yield* mayShowEmail(query.repositoryId, context)
      return rows.map(({ id, record: text }) => {
        const stored: StoredComment = JSON.parse(text)
        const shown = visible(shownComment(stored), showsEmail)
        returnedComments.set(shown, { id, stored })
        return shown
      })
    }),

    labelsAndMilestones: answered(function* ({ repositoryId }, context) {
      const labels = yield* all(inRepository('labels', repositoryId), context)
      const milestones = yield* all(inRepository('milestones', repositoryId), context)
      return {
        labels: labels.map(({ record }): LabelRecord => JSON.parse(record)),
        milestones: milestones.map(({ record }): MilestoneRecord => JSON.parse(record)),
      }
    }),

    /** People are found by their names alone. */
    findUsers: answered(function* (users, context) {
      const names = users.map(({ name }) => normalizeName(name))
      const accounts = sql<
        Pick<Row<'accounts'>, 'id' | 'folded_name'>
      >`select ${forms.number(raw('id'))} as id, folded_name
        from ${table('accounts')} where kind = 'user' and folded_name in ${forms.elements(JSON.stringify(names), 'text')}`
      const rows = yield* all(accounts, context)
      const ids = new Map(rows.map(({ id, folded_name }) => [folded_name, String(id)]))
      return names.map((name) => ids.get(name))
    }),

    write: answered(write),
    attribution: createAttribution(database),
  }

  /** What has no account here is posted by who imports, or by the owner of the repository. */
  function* write(batch: IncomingBatch, context: Context): Steps<void> {
    const repository_id = idOf(batch.repositoryId)
    const owner = sql<Pick<Row<'repositories'>, 'owner_id'>>`select ${forms.number(raw('owner_id'))} as owner_id
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
      const { record, createdAt } = comment
      const issue_number = record.issue_number
      return {
        repository_id,
        issue_number,
        created_at: createdAt.getTime(),
        record: JSON.stringify(storedComment(comment)),
      }
    })
    const replaced = batch.commentUpdates.flatMap((comment) => {
      const row = returnedComments.get(comment.previous)
      if (row === undefined) return []
      const record = JSON.stringify(replacedComment(comment, row.stored))
      return sql`update ${table('comments')} set record = ${record} where id = ${row.id}`
    })
    const described =
      (kind: 'labels' | 'milestones', ids: ReadonlyMap<string, number>) =>
      ({ name, record }: Named): Sql =>
        sql`update ${table(kind)} set record = ${record} where id = ${ids.get(name) ?? NO_ID}`
    const changes = [
      ...replaced,
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
    if (changes.length > 0) yield* wait(database.change(changes, context.transaction))
    const writer = database.writerIn(context.transaction)
    yield* writer.insert('issues', created)
    yield* writer.insert('comments', comments)
  }

  /** Returns the ids of labels or milestones, by their names, after those that are missing have been made. */
  function* idsByName(
    kind: 'labels' | 'milestones',
    repository_id: number,
    named: readonly Named[],
    context: Context,
  ): Steps<ReadonlyMap<string, number>> {
    const rows = yield* all(inRepository(kind, String(repository_id)), context)
    const ids = new Map(rows.toReversed().map(({ id, name }) => [name, id])) // the first of several with one name
    const missing = new Map<string, NewRow<'labels'>>()
    for (const { name, record } of named) {
      if (!ids.has(name) && !missing.has(name)) missing.set(name, { repository_id, name, record })
    }
    const newIds = yield* database.writerIn(context.transaction).insert(kind, [...missing.values()])
    for (const [at, name] of [...missing.keys()].entries()) ids.set(name, newIds[at] ?? NO_ID)
    return ids
  }

  function* labelsOf(
    found: readonly (StoredIssue | TakenNumber)[],
    context: Context,
  ): Steps<ReadonlyMap<number, LabelRecord>> {
    const ids = [...new Set(found.flatMap((one) => ('labels' in one && one.labels) || []))]
    if (ids.length === 0) return new Map()

    const labels = sql<Row<'labels'>>`select ${columnsOf('labels')} from ${table('labels')} as labels
      where labels.id in ${numbersIn(host, ids)}`
    const rows = yield* all(labels, context)
    return new Map(rows.map(({ id, record }): [number, LabelRecord] => [id, JSON.parse(record)]))
  }

  function inRepository(kind: 'labels' | 'milestones', repositoryId: Id): Sql<Row<'labels'>> {
    return sql<Row<'labels'>>`select ${columnsOf(kind)} from ${table(kind)} as ${raw(kind)}
      where repository_id = ${idOf(repositoryId)} order by ${raw(kind)}.id`
  }

  /** E-mail addresses are for the admins of the repository and of the site. Source: docs/behaviour.md, The standalone server */
  function* mayShowEmail(repositoryId: Id, { actor, transaction }: Context): Steps<boolean> {
    if (typeof actor === 'string') return actor === 'system'

    const userId = userIdOf(actor)
    const standing = yield* wait(directory.standing({ action: 'issues.export', repositoryId }, userId, transaction))
    return standing.is_site_admin === 1 || repositoryRoleOf(standing, userId) === 'admin'
  }

  function all<R>(part: Sql<R>, { transaction }: Context): Steps<readonly R[]> {
    return wait(database.rows(part, transaction))
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
