import { randomBytes } from 'node:crypto'
import { ForgeError } from 'forgelet'
import { tokenDigest } from '../credentials.ts'
import { parseFixture } from '../fixture/parse-fixture.ts'
import type { Steps } from '../steps.ts'
import { wait } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import { HostDirectory } from './host-directory.ts'
import { accountRow, repositoryRow } from './load-fixture.ts'
import type { DatabaseLocation } from './open-host-database.ts'
import { onReadyDatabase } from './open-host-database.ts'
import { idOf, NO_ID } from './roles.ts'
import { sql } from './sql.ts'
import type { Row } from './tables.ts'

/** An access token of a user, without the token itself: only its SHA-256 is stored. */
export interface AccessToken {
  /** The first 12 hexadecimal digits of the token's SHA-256. */
  readonly id: string
  /** Undefined if the token has no name, like those of a fixture. */
  readonly name: string | undefined
  /** Undefined for a token of a fixture. */
  readonly createdAt: Date | undefined
}

/** A token that was just created. */
export interface CreatedAccessToken extends AccessToken {
  /** The token: 40 hexadecimal digits. It cannot be shown again. */
  readonly token: string
}

const TOKEN_BYTES = 20
const ID_LENGTH = 12

/**
 * Creates an access token. Every server of the database accepts it at once.
 *
 * @param name - what the token is for
 * @throws ForgeError `USER_NOT_FOUND`; `SCHEMA_OUTDATED` if no server of this release has set up the database yet;
 * `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`
 */
export function createAccessToken(
  location: DatabaseLocation,
  username: string,
  name?: string | undefined,
): Promise<CreatedAccessToken> {
  return onUser(location, username, (database, userId) =>
    database.write((transaction) => insertToken(database, transaction, userId, name)),
  )
}

/** Inserts a new token of a user. */
function* insertToken(
  database: HostDatabase,
  transaction: unknown,
  userId: number,
  name?: string,
): Steps<CreatedAccessToken> {
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  const row = { digest: tokenDigest(token), user_id: userId, name: name ?? null, created_at: Date.now() }
  yield* database.insert('tokens', [row], transaction)
  return { ...shown(row), token }
}

/** Lists the access tokens of a user, the oldest first. @throws ForgeError as `createAccessToken` does */
export function listAccessTokens(location: DatabaseLocation, username: string): Promise<readonly AccessToken[]> {
  return onUser(location, username, async (database, userId) => (await tokensOf(database, userId)).map(shown))
}

/**
 * Revokes an access token of a user. From now on every server of the database refuses it. Returns false if the user has
 * no such token.
 *
 * @param id - as `listAccessTokens` returns it
 * @throws ForgeError as `createAccessToken` does
 */
export function revokeAccessToken(location: DatabaseLocation, username: string, id: string): Promise<boolean> {
  return onUser(location, username, async (database, userId) => {
    const found = (await tokensOf(database, userId)).filter((row) => shown(row).id === id)
    const deletions = found.map(({ digest }) => sql`delete from ${database.table('tokens')} where digest = ${digest}`)
    await database.write((transaction) => wait(database.change(deletions, transaction)))
    return found.length > 0
  })
}

function onUser<T>(
  location: DatabaseLocation,
  username: string,
  work: (database: HostDatabase, userId: number) => Promise<T>,
): Promise<T> {
  return onReadyDatabase(location, async (database) => {
    const account = await new HostDirectory(database).findAccount(username)
    if (account?.kind !== 'user') throw new ForgeError('USER_NOT_FOUND', `no user has the name ${username}`)
    return work(database, Number(account.id))
  })
}

/** Returns the tokens of a user, the oldest first. */
async function tokensOf(database: HostDatabase, userId: number): Promise<readonly Row<'tokens'>[]> {
  const { table, columnsOf } = database
  const rows = await database.rows(
    sql<Row<'tokens'>>`select ${columnsOf('tokens')} from ${table('tokens')} as tokens where user_id = ${userId}`,
  )
  return rows.toSorted((one, other) => (one.created_at ?? 0) - (other.created_at ?? 0))
}

function shown({ digest, name, created_at }: Row<'tokens'>): AccessToken {
  return {
    id: digest.slice(0, ID_LENGTH),
    name: name ?? undefined,
    createdAt: created_at === null ? undefined : new Date(created_at),
  }
}

/**
 * Creates a user, and an access token of the user.
 *
 * @param username - as in a fixture
 * @returns undefined if an account already has this name, in any case
 * @throws ForgeError `INVALID_INPUT` if the name is not one that a user can have; otherwise as `createAccessToken`
 */
export function createUser(
  location: DatabaseLocation,
  username: string,
  { siteAdmin = false }: { readonly siteAdmin?: boolean | undefined } = {},
): Promise<CreatedAccessToken | undefined> {
  return add(location, { users: [{ username }] }, function* user(database, directory, transaction) {
    if ((yield* wait(directory.findAccount(username, { transaction }))) !== undefined) return undefined

    const row = accountRow('user', { name: username, siteAdmin }, new Date())
    const [userId = NO_ID] = yield* database.insert('accounts', [row], transaction)
    return yield* insertToken(database, transaction, userId)
  })
}

/**
 * Creates an organization. Every server of the database knows it at once.
 *
 * @param name - as in a fixture
 * @returns false if an account already has this name, in any case
 * @throws ForgeError `INVALID_INPUT` if the name is not one that an organization can have; `USER_NOT_FOUND` for its owner;
 * `SCHEMA_OUTDATED` if no server of this release has set up the database yet; `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`
 */
export function createOrganization(
  location: DatabaseLocation,
  name: string,
  { owner }: { readonly owner: string },
): Promise<boolean> {
  return add(location, { organizations: [{ name }] }, function* organization(database, directory, transaction) {
    const user = yield* wait(directory.findAccount(owner, { transaction }))
    if (user?.kind !== 'user') throw new ForgeError('USER_NOT_FOUND', `no user has the name ${owner}`)
    if ((yield* wait(directory.findAccount(name, { transaction }))) !== undefined) return false

    const account = accountRow('organization', { name }, new Date())
    const [organization_id = NO_ID] = yield* database.insert('accounts', [account], transaction)
    const member = { organization_id, user_id: idOf(user.id), role: 'owner' } as const
    yield* database.insert('members', [member], transaction)
    return true
  })
}

/**
 * Creates a repository without issues. Every server of the database knows it at once.
 *
 * @param repository - its owner, a user or an organization, and its name as in a fixture
 * @returns false if the owner already has a repository of this name, in any case
 * @throws ForgeError as `createOrganization` does; `USER_NOT_FOUND` if no user and no organization has the name of the owner
 */
export function createRepository(
  location: DatabaseLocation,
  repository: { readonly owner: string; readonly name: string; readonly private?: boolean | undefined },
): Promise<boolean> {
  const { owner, name } = repository
  const fixture = { users: [{ username: owner }], repositories: [{ owner, name }] }
  return add(location, fixture, function* added(database, directory, transaction) {
    const account = yield* wait(directory.findAccount(owner, { transaction }))
    if (account === undefined) throw new ForgeError('USER_NOT_FOUND', `no user or organization has the name ${owner}`)
    if ((yield* wait(directory.findRepository(owner, name, { transaction }))) !== undefined) return false

    const row = repositoryRow(repository, idOf(account.id), new Date())
    yield* database.insert('repositories', [row], transaction)
    return true
  })
}

/**
 * Adds to a database, in a transaction in which nothing else is added.
 *
 * @param fixture - has the new names: they must be those of a valid one
 */
async function add<T>(
  location: DatabaseLocation,
  fixture: object,
  steps: (database: HostDatabase, directory: HostDirectory, transaction: unknown) => Steps<T>,
): Promise<T> {
  parseFixture(fixture)
  return onReadyDatabase(location, (database) =>
    database.write((transaction) => steps(database, new HostDirectory(database), transaction)),
  )
}
