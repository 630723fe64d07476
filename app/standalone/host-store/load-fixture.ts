import type { Actor, Forge, Id, IssueRef, MaybePromise, Sync, TransactionServices } from 'forgelet'
import { canonicalIssue } from 'forgelet/exchange'
import { normalizeName, tokenDigest } from '../credentials.ts'
import type { Fixture, FixtureIssue, FixtureOrganization, FixtureRepository, FixtureUser } from '../fixture/fixture.ts'
import type { Steps } from '../steps.ts'
import { after, run, wait } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { StoredIssue } from './issue-records.ts'
import type { StandaloneUser } from './roles.ts'
import { sql } from './sql.ts'
import type { NewRow, Row, TableName } from './tables.ts'

/** How long loading may take, also while other processes load, in milliseconds. */
const MAX_LOAD_MS = 300_000

/** Loads a whole fixture in one transaction, if there is no account yet. Returns whether it did. */
export function loadFixture(database: HostDatabase, forge: Forge<StandaloneUser>, fixture: Fixture): Promise<boolean> {
  const load = function* (transaction: unknown): Steps<boolean> {
    if (!(yield* wait(isEmpty(database, transaction)))) return false

    const insert: InsertRows = (table, rows) => database.insert(table, rows, transaction)
    const insertAll = (services: LoadedForge<StandaloneUser>): MaybePromise<void> =>
      run(insertFixture(fixture, { now: new Date(), insert, forge: services }))
    yield* wait<unknown>(
      database.storage.transactions === 'synchronous'
        ? forge.withTransactionSync(transaction, insertAll)
        : forge.withTransaction(transaction, async (services) => insertAll(services)),
    )
    return true
  }
  return database.write(load, { milliseconds: MAX_LOAD_MS })
}

/** Whether there is no account yet. */
export function isEmpty(database: HostDatabase, transaction?: unknown): MaybePromise<boolean> {
  const anyAccount = sql`select kind from ${database.table('accounts')} limit 1`
  return after(database.rows(anyAccount, transaction), (rows) => rows.length === 0)
}

/** Inserts rows. Returns the ids that they were given, in their order, if the table has ids. */
export type InsertRows = <T extends TableName>(table: T, rows: readonly NewRow<T>[]) => Steps<readonly number[]>

/** The services of a forge, also inside a transaction of the host. */
type LoadedForge<A extends Actor> = TransactionServices<A> | Sync<TransactionServices<A>>

/** Where a fixture is loaded into. */
export interface FixtureTarget<A extends Actor> {
  /** The creation time where the fixture names none. */
  readonly now: Date
  readonly insert: InsertRows
  readonly forge: LoadedForge<A>
  /** Returns the user of an account, as the forge knows them. Default: the id of the account. */
  readonly userOf?: (account: Row<'accounts'>) => Id
}

/**
 * Inserts the rows of a fixture, in its order, and then what belongs to the forge.
 *
 * @param fixture - one that `parseFixture` has accepted
 */
export function* insertFixture<A extends Actor>(fixture: Fixture, target: FixtureTarget<A>): Steps<void> {
  const { users = [], organizations = [], repositories = [], badges = [] } = fixture
  const { now, insert, forge, userOf = ({ id }) => String(id) } = target
  const rows = [
    ...users.map((user) => accountRow('user', { ...user, name: user.username }, now)),
    ...organizations.map((organization) => accountRow('organization', organization, now)),
  ]
  const ids = yield* insert('accounts', rows)
  const accounts = accountsByName(rows.map((row, at) => ({ id: ids[at] ?? 0, ...row })))
  const tokens = users.flatMap(({ username, tokens = [] }) => {
    const user_id = accounts(username).id
    return tokens.map((token) => ({ digest: tokenDigest(token), user_id, name: null, created_at: null }))
  })
  yield* insert('tokens', tokens)
  const members = organizations.flatMap(({ name, owners, members }) => {
    const organization_id = accounts(name).id
    return rolesOf(accounts, ['member', members], ['owner', owners]).map((role) => ({ organization_id, ...role }))
  })
  yield* insert('members', members)
  const pins: IssueRef[] = []
  for (const repository of repositories) pins.push(...(yield* insertRepository(repository, accounts, target)))

  for (const { slug, description = '', imageUrl = '' } of badges) {
    yield* wait<unknown>(forge.badges.catalogue.define('system', { slug, description, imageUrl }))
  }
  for (const { slug, holders = [] } of badges) {
    for (const userId of new Set(holders.map((name) => userOf(accounts(name))))) {
      yield* wait<unknown>(forge.badges.grant('system', { userId, slugs: [slug] }))
    }
  }
  for (const { name, blocks = [] } of organizations) {
    const organizationId = String(accounts(name).id)
    for (const { user, note = '' } of blocks) {
      const account = { kind: 'user', id: userOf(accounts(user)) } as const
      yield* wait<unknown>(forge.blocks.block('system', { organizationId, account, note }))
    }
  }
  for (const issue of pins) yield* wait<unknown>(forge.pins.pin('system', issue))
}

/** The account of a fixture that has a name. */
type Accounts = (name: string) => Row<'accounts'>

function accountsByName(rows: readonly Row<'accounts'>[]): Accounts {
  const accounts = new Map(rows.map((account) => [account.folded_name, account]))
  return (name) => {
    const account = accounts.get(normalizeName(name))
    if (account !== undefined) return account
    throw new TypeError('a name does not exist in this fixture; check it with parseFixture')
  }
}

/** Returns the role of each user in lists of names. Of two roles the one counts whose list comes later. */
function rolesOf<R extends string>(
  accounts: Accounts,
  ...lists: readonly (readonly [role: R, names: readonly string[] | undefined])[]
) {
  const roles = new Map(lists.flatMap(([role, names = []]) => names.map((name) => [accounts(name).id, role] as const)))
  return [...roles].map(([user_id, role]) => ({ user_id, role }))
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

/** Inserts a repository and what is in it. Returns its pinned issues. */
function* insertRepository<A extends Actor>(
  repository: FixtureRepository,
  accounts: Accounts,
  { insert, now: loadedAt }: FixtureTarget<A>,
): Steps<readonly IssueRef[]> {
  const { labels = [], issues = [], pins = [], readers, writers, admins } = repository
  const row = repositoryRow(repository, accounts(repository.owner).id, loadedAt)
  const [repository_id = 0] = yield* insert('repositories', [row])
  const roles = rolesOf(accounts, ['reader', readers], ['writer', writers], ['admin', admins])
  yield* insert(
    'collaborators',
    roles.map((role) => ({ repository_id, ...role })),
  )

  const labelRows = labels.map(({ name, color = 'cccccc', description }) => ({
    repository_id,
    name,
    record: JSON.stringify({ name, color: color.toLowerCase(), ...(description && { description }) }),
  }))
  const labelIds = yield* insert('labels', labelRows)
  const idsOfLabels = new Map(labels.map(({ name }, at) => [normalizeName(name), labelIds[at] ?? 0]))
  const now = timeOf(repository.createdAt, loadedAt)
  const rows = issues.map((issue): NewRow<'issues'> => {
    const { index: number, state = 'open', pull = false, comments = 0 } = issue
    const labels = new Set((issue.labels ?? []).flatMap((name) => idsOfLabels.get(normalizeName(name)) ?? []))
    return {
      repository_id,
      number,
      kind: pull ? 'pullRequest' : 'issue',
      state,
      poster_id: accounts(issue.poster).id,
      milestone_id: null,
      comment_count: comments,
      branch: pull ? (issue.branch ?? `patch-${number}`) : '',
      record: JSON.stringify(recordOf(issue, accounts, [...labels], now)),
    }
  })
  const issueIds = yield* insert('issues', rows)
  const repositoryId = String(repository_id)
  const refs = new Map(
    rows.map(({ number, kind }, at) => [number, { id: String(issueIds[at]), repositoryId, kind }] as const),
  )
  return pins.flatMap((index) => refs.get(index) ?? [])
}

function recordOf(issue: FixtureIssue, accounts: Accounts, labels: readonly number[], now: Date): StoredIssue {
  const { index, title, body = '', state = 'open', locked = false } = issue
  const poster = accounts(issue.poster)
  const assignees = (issue.assignees ?? []).map(accounts)
  const created = issue.createdAt ?? now.toISOString()
  const updated = issue.updatedAt ?? created
  const { labels: _, ...canonical } = canonicalIssue({
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
    ...(state === 'closed' && { closed: issue.closedAt ?? updated }),
    assignees: [...new Set(assignees.map(({ name }) => name))],
  })
  return {
    ...canonical,
    ...(labels.length > 0 && { labels }),
    accounts: [...new Map([poster, ...assignees].map(({ name, id }) => [name, id]))],
  }
}

function flag(value = false): number {
  return value ? 1 : 0
}

/** Parses a time of a fixture, or returns a default if the fixture names none. */
function timeOf(text: string | undefined, otherwise: Date): Date {
  return text === undefined ? otherwise : new Date(text)
}
