import type { Compilable, Insertable } from 'kysely'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import type { Session } from '../../storage/sql/session.ts'
import type { Account, Collaborator, Issue, Label, Member, Repository, Seed, Token } from '../fixture/seed.ts'
import { normalizeName } from '../host-names.ts'
import type { HostContext, HostTables } from './host-tables.ts'

/** Rows in one statement. SQLite and PostgreSQL limit the number of values; the widest table has 15 columns. */
const ROWS_TOGETHER = 100
/**
 * The characters of the rows in one round trip, unless one row is longer. MariaDB accepts 16 MiB (`max_allowed_packet`),
 * and 2 million characters take at most 6 MB.
 */
const CHARACTERS_TOGETHER = 2_000_000

/** Writes the host's part of a seed. Runs inside the caller's transaction. */
export function* writeSeed(session: Pick<Session, 'batch'>, { build }: HostContext, seed: Seed): SyncOrAsync<void> {
  const insertions = [
    ...inserts(seed.accounts.map(accountRow), (rows) => build.insertInto('accounts').values(rows)),
    ...inserts(seed.tokens.map(tokenRow), (rows) => build.insertInto('tokens').values(rows)),
    ...inserts(seed.members.map(memberRow), (rows) => build.insertInto('members').values(rows)),
    ...inserts(seed.repositories.map(repositoryRow), (rows) => build.insertInto('repositories').values(rows)),
    ...inserts(seed.collaborators.map(collaboratorRow), (rows) => build.insertInto('collaborators').values(rows)),
    ...inserts(seed.labels.map(labelRow), (rows) => build.insertInto('labels').values(rows)),
    ...inserts(seed.issues.map(issueRow), (rows) => build.insertInto('issues').values(rows)),
    ...inserts(seed.issues.flatMap(labelRows), (rows) => build.insertInto('issue_labels').values(rows)),
    ...inserts(seed.issues.flatMap(assigneeRows), (rows) => build.insertInto('issue_assignees').values(rows)),
  ]
  for (const together of grouped(insertions, sizeOf)) yield* wait(session.batch(together))
}

function inserts<Row extends object>(
  rows: readonly Row[],
  inserting: (together: readonly Row[]) => Compilable<unknown>,
): readonly Statement<unknown>[] {
  const lists = grouped(rows, (row) => Math.max(lengthOf(Object.values(row)), CHARACTERS_TOGETHER / ROWS_TOGETHER))
  return lists.map((together) => ({ ...compileStatement(inserting(together)), mayTakeLong: true as const }))
}

/** Puts what comes one after the other into groups that are not larger than `CHARACTERS_TOGETHER`, or hold one thing. */
function grouped<T>(things: readonly T[], size: (thing: T) => number): readonly (readonly T[])[] {
  const groups: T[][] = []
  let left = 0
  for (const thing of things) {
    left -= size(thing)
    const group = groups.at(-1)
    if (group === undefined || left < 0) {
      groups.push([thing])
      left = CHARACTERS_TOGETHER - size(thing)
    } else group.push(thing)
  }
  return groups
}

function sizeOf({ sql, parameters }: Statement<unknown>): number {
  return sql.length + lengthOf(parameters)
}

function lengthOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}

function accountRow(account: Account): HostTables['accounts'] {
  const { id, kind, name, email, visibility, location, website, description } = account
  return {
    id,
    kind,
    name,
    folded_name: normalizeName(name),
    full_name: account.fullName,
    email,
    hides_email: flag(account.hideEmail),
    is_site_admin: flag(account.siteAdmin),
    visibility,
    location,
    website,
    description,
    created_at: account.createdAt.getTime(),
  }
}

function tokenRow({ digest, userId }: Token): Insertable<HostTables['tokens']> {
  return { digest, user_id: userId }
}

function memberRow({ organizationId, userId, role }: Member): HostTables['members'] {
  return { organization_id: organizationId, user_id: userId, role }
}

function repositoryRow(repository: Repository): HostTables['repositories'] {
  const { id, name, description } = repository
  return {
    id,
    owner_id: repository.ownerId,
    name,
    folded_name: normalizeName(name),
    description,
    is_private: flag(repository.isPrivate),
    is_archived: flag(repository.isArchived),
    default_branch: repository.defaultBranch,
    created_at: repository.createdAt.getTime(),
  }
}

function collaboratorRow({ repositoryId, userId, role }: Collaborator): HostTables['collaborators'] {
  return { repository_id: repositoryId, user_id: userId, role }
}

function labelRow({ id, repositoryId, name, color, description }: Label): HostTables['labels'] {
  return { id, repository_id: repositoryId, name, color, description }
}

function labelRows({ id, labelIds }: Issue): readonly HostTables['issue_labels'][] {
  return labelIds.map((labelId, place) => ({ issue_id: id, place, label_id: labelId }))
}

function assigneeRows({ id, assigneeIds }: Issue): readonly HostTables['issue_assignees'][] {
  return assigneeIds.map((userId, place) => ({ issue_id: id, place, user_id: userId }))
}

function issueRow(issue: Issue): Insertable<HostTables['issues']> {
  const { id, kind, title, body, state, branch } = issue
  return {
    id,
    repository_id: issue.repositoryId,
    issue_index: issue.index,
    kind,
    title,
    body,
    poster_id: issue.posterId,
    state,
    is_locked: flag(issue.isLocked),
    branch,
    ref: issue.ref,
    comment_count: issue.commentCount,
    created_at: issue.createdAt.getTime(),
    updated_at: issue.updatedAt.getTime(),
    closed_at: issue.closedAt?.getTime() ?? null,
  }
}

function flag(value: boolean): number {
  return value ? 1 : 0
}
