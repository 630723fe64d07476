import type { Actor, Forge, Id, IssueRef, Sync, TransactionServices } from '../../index.ts'
import { canonicalDateTime } from '../../schema/date-time.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import { query } from '../../storage/sql/session.ts'
import type { Fixture, FixtureIssue, FixtureOrganization, FixtureRepository, FixtureUser } from '../fixture/fixture.ts'
import { normalizeName, tokenDigest } from '../host-names.ts'
import type { HostDatabase } from './host-database.ts'
import type { StandaloneUser } from './roles.ts'
import type { RowSink } from './row-writer.ts'
import { Inserts, RowWriter } from './row-writer.ts'
import type { HostContext, NewRow, Row, StoredIssue } from './tables.ts'

/** Loads a whole fixture in one transaction, if there is no account yet. Returns whether it did. */
export function loadFixture<Tx>(
  database: HostDatabase<Tx>,
  forge: Forge<StandaloneUser, Tx>,
  fixture: Fixture,
): Promise<boolean> {
  const { context } = database
  return database.load(forge, function* load(session, services) {
    if ((yield* query(session, anyAccount(context))).length > 0) return false

    const rows = new RowWriter(new Inserts(context), (statement) => session.all(statement))
    yield* seedForge(services, yield* insertFixture(fixture, new Date(), rows))
    return true
  })
}

/** Whether there is no account yet. */
export async function isEmpty<Tx>(database: HostDatabase<Tx>): Promise<boolean> {
  return (await database.rows(anyAccount(database.context))).length === 0
}

function anyAccount({ build }: HostContext): Statement<unknown> {
  return compileStatement(build.selectFrom('accounts').select('kind').limit(1))
}

/** What of a fixture belongs to the forge. */
export interface ForgeSeed {
  readonly badges: readonly {
    readonly slug: string
    readonly description: string
    readonly imageUrl: string
    readonly holderIds: readonly Id[]
  }[]
  readonly blocks: readonly { readonly organizationId: Id; readonly userId: Id; readonly note: string }[]
  /** The first position first. */
  readonly pins: readonly IssueRef[]
}

/**
 * Inserts the rows of a fixture, in its order. Returns what belongs to the forge, with the ids that the rows were given.
 *
 * @param fixture - one that `parseFixture` has accepted
 * @param now - the creation time where the fixture names none
 */
export function* insertFixture(fixture: Fixture, now: Date, sink: RowSink): SyncOrAsync<ForgeSeed> {
  const { users = [], organizations = [], repositories = [], badges = [] } = fixture
  const accounts = yield* insertAccounts(fixture, now, sink)
  yield* sink.insert(
    'tokens',
    users.flatMap(({ username, tokens = [] }) =>
      tokens.map((token) => ({
        digest: tokenDigest(token),
        user_id: accounts.id(username),
        name: null,
        created_at: null,
      })),
    ),
  )
  yield* sink.insert(
    'members',
    organizations.flatMap((organization) => membersOf(organization, accounts)),
  )
  const rows = repositories.map((repository) => repositoryRow(repository, accounts.id(repository.owner), now))
  const ids = yield* sink.insertNumbered('repositories', rows)

  const pins: IssueRef[] = []
  for (const [at, repository] of repositories.entries()) {
    const place = { repositoryId: ids[at] ?? 0, accounts, now: timeOf(repository.createdAt, now) }
    pins.push(...(yield* insertContents(repository, place, sink)))
  }
  return {
    badges: badges.map(({ slug, description = '', imageUrl = '', holders }) => ({
      slug,
      description,
      imageUrl,
      holderIds: accounts.ids(holders).map(String),
    })),
    blocks: organizations.flatMap(({ name, blocks = [] }) =>
      blocks.map(({ user, note = '' }) => ({
        organizationId: String(accounts.id(name)),
        userId: String(accounts.id(user)),
        note,
      })),
    ),
    pins,
  }
}

/** Writes what of a fixture belongs to the forge. */
export function* seedForge<A extends Actor>(
  forge: TransactionServices<A> | Sync<TransactionServices<A>>,
  { badges, blocks, pins }: ForgeSeed,
): SyncOrAsync<void> {
  for (const badge of badges) yield* wait<unknown>(forge.badges.catalogue.define('system', badge))
  for (const { slug, holderIds } of badges) {
    for (const userId of holderIds) yield* wait<unknown>(forge.badges.grant('system', { userId, slugs: [slug] }))
  }
  for (const { organizationId, userId, note } of blocks) {
    yield* wait<unknown>(forge.blocks.block('system', { organizationId, account: { kind: 'user', id: userId }, note }))
  }
  for (const issue of pins) yield* wait<unknown>(forge.pins.pin('system', issue))
}

/** The accounts of a fixture, by their names. */
class Accounts {
  readonly #accounts: ReadonlyMap<string, Row<'accounts'>>

  constructor(accounts: readonly Row<'accounts'>[]) {
    this.#accounts = new Map(accounts.map((account) => [account.folded_name, account]))
  }

  named(name: string): Row<'accounts'> {
    const account = this.#accounts.get(normalizeName(name))
    if (account !== undefined) return account
    throw new TypeError('a name does not exist in this fixture; check it with parseFixture')
  }

  id(name: string): number {
    return this.named(name).id
  }

  /** Returns ids, each once. */
  ids(names: readonly string[] = []): readonly number[] {
    return [...new Set(names.map((name) => this.id(name)))]
  }

  /** Returns the role of each user in lists of names. Of two roles the one counts whose list comes later. */
  roles<R extends string>(lists: Readonly<Record<R, readonly string[] | undefined>>): readonly (readonly [number, R])[]
  roles(lists: Readonly<Record<string, readonly string[] | undefined>>): readonly (readonly [number, string])[] {
    const given = Object.entries(lists).flatMap(([role, names]) => this.ids(names).map((id) => [id, role] as const))
    return [...new Map(given)]
  }
}

function* insertAccounts({ users = [], organizations = [] }: Fixture, now: Date, sink: RowSink): SyncOrAsync<Accounts> {
  const rows = [
    ...users.map((user) => accountRow('user', { ...user, name: user.username }, now)),
    ...organizations.map((organization) => accountRow('organization', organization, now)),
  ]
  const ids = yield* sink.insertNumbered('accounts', rows)
  return new Accounts(rows.map((row, at) => ({ ...row, id: ids[at] ?? 0 })))
}

/** Converts a user or an organization to a row. @param now - the creation time if it names none */
export function accountRow(
  kind: Row<'accounts'>['kind'],
  account: Partial<FixtureUser> & FixtureOrganization,
  now: Date,
): NewRow<'accounts'> {
  const { name, fullName = '', visibility = 'public', location = '', website = '', description = '' } = account
  return {
    kind,
    name,
    folded_name: normalizeName(name),
    full_name: fullName,
    email: account.email ?? (kind === 'user' ? `${normalizeName(name)}@example.com` : ''),
    hides_email: flag(account.hideEmail),
    is_site_admin: flag(account.siteAdmin),
    visibility,
    location,
    website,
    description,
    created_at: timeOf(account.createdAt, now).getTime(),
  }
}

/** Converts a repository to a row. @param now - the creation time if it names none */
export function repositoryRow(repository: FixtureRepository, ownerId: number, now: Date): NewRow<'repositories'> {
  const { name, description = '', defaultBranch = 'main' } = repository
  return {
    owner_id: ownerId,
    name,
    folded_name: normalizeName(name),
    description,
    is_private: flag(repository.private),
    is_archived: flag(repository.archived),
    default_branch: defaultBranch,
    created_at: timeOf(repository.createdAt, now).getTime(),
  }
}

/** Returns the members of an organization. An owner is listed once. */
function membersOf({ name, owners, members }: FixtureOrganization, accounts: Accounts): readonly Row<'members'>[] {
  const organization_id = accounts.id(name)
  const roles = accounts.roles({ member: members, owner: owners })
  return roles.map(([user_id, role]) => ({ organization_id, user_id, role }))
}

/** The context of what is in a repository. */
interface Place {
  readonly repositoryId: number
  readonly accounts: Accounts
  readonly now: Date
}

/** Inserts what is in a repository. Returns its pinned issues. */
function* insertContents(repository: FixtureRepository, place: Place, sink: RowSink): SyncOrAsync<readonly IssueRef[]> {
  const { repositoryId, accounts } = place
  const { labels = [], issues = [], pins = [], readers, writers, admins } = repository
  const roles = accounts.roles({ reader: readers, writer: writers, admin: admins })
  const collaborators = roles.map(([user_id, role]) => ({ repository_id: repositoryId, user_id, role }))
  yield* sink.insert('collaborators', collaborators)

  const labelIds = yield* sink.insertNumbered(
    'labels',
    labels.map(({ name, color = 'cccccc', description }) => ({
      repository_id: repositoryId,
      name,
      record: JSON.stringify({ name, color: color.toLowerCase(), ...(description && { description }) }),
    })),
  )
  const idsOfLabels = new Map(labels.map(({ name }, at) => [normalizeName(name), labelIds[at] ?? 0]))
  const rows = issues.map((issue) => issueRow(issue, idsOfLabels, place))
  const issueIds = yield* sink.insertNumbered('issues', rows)
  const refs = new Map(rows.map(({ number, kind }, at) => [number, { id: String(issueIds[at]), kind }]))
  return pins.flatMap((index) => {
    const issue = refs.get(index)
    return issue === undefined ? [] : { ...issue, repositoryId: String(repositoryId) }
  })
}

function issueRow(
  issue: FixtureIssue,
  labelIds: ReadonlyMap<string, number>,
  { repositoryId, accounts, now }: Place,
): NewRow<'issues'> {
  const { index, title, body = '', state = 'open', pull = false, locked = false, comments = 0, assignees = [] } = issue
  const poster = accounts.named(issue.poster)
  const created = canonicalDateTime(issue.createdAt ?? now.toISOString())
  const updated = issue.updatedAt === undefined ? created : canonicalDateTime(issue.updatedAt)
  const people = assignees.map((name) => accounts.named(name))
  const names = new Set(people.map(({ name }) => name))
  const itsLabels = new Set((issue.labels ?? []).flatMap((name) => labelIds.get(normalizeName(name)) ?? []))
  const record: StoredIssue = {
    number: index,
    poster_id: poster.id,
    poster_name: poster.name,
    ...(poster.hides_email === 0 && { poster_email: poster.email }),
    title,
    content: body,
    state,
    is_locked: locked,
    created,
    updated,
    ...(state === 'closed' && { closed: issue.closedAt === undefined ? updated : canonicalDateTime(issue.closedAt) }),
    ...(itsLabels.size > 0 && { labels: [...itsLabels] }),
    ...(names.size > 0 && { assignees: [...names], accounts: [...new Map(people.map(({ name, id }) => [name, id]))] }),
  }
  return {
    repository_id: repositoryId,
    number: index,
    kind: pull ? 'pullRequest' : 'issue',
    state,
    poster_id: poster.id,
    poster_is_author: 1,
    assignee_ids: JSON.stringify(accounts.ids(assignees)),
    milestone_id: null,
    comment_count: comments,
    branch: pull ? (issue.branch ?? `patch-${index}`) : '',
    record: JSON.stringify(record),
  }
}

function flag(value = false): number {
  return value ? 1 : 0
}

/** Parses a time of a fixture, or returns a default if the fixture names none. */
function timeOf(text: string | undefined, otherwise: Date): Date {
  return text === undefined ? otherwise : new Date(text)
}
