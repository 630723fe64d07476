import { ForgeError } from 'forgelet'
import { parseFixture } from '../fixture/parse-fixture.ts'
import { normalizeName } from '../host-names.ts'
import type { Steps } from '../steps.ts'
import type { CreatedAccessToken } from './access-tokens.ts'
import { insertToken } from './access-tokens.ts'
import { accountRow, repositoryRow } from './load-fixture.ts'
import type { DatabaseLocation } from './open-host-database.ts'
import { onReadyDatabase } from './open-host-database.ts'
import { NO_ID } from './roles.ts'
import type { RowWriter } from './row-writer.ts'
import { raw, sql } from './sql.ts'
import type { Row } from './tables.ts'

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
  return add(location, { users: [{ username }] }, function* user(writer) {
    if ((yield* accountNamed(writer, username)) !== undefined) return undefined

    const row = accountRow('user', { name: username, siteAdmin }, new Date())
    const [userId = NO_ID] = yield* writer.insert('accounts', [row])
    return yield* insertToken(writer, userId)
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
  return add(location, { organizations: [{ name }] }, function* organization(writer) {
    const user = yield* accountNamed(writer, owner)
    if (user?.kind !== 'user') throw new ForgeError('USER_NOT_FOUND', 'no user has the name of the owner')
    if ((yield* accountNamed(writer, name)) !== undefined) return false

    const account = accountRow('organization', { name }, new Date())
    const [organization_id = NO_ID] = yield* writer.insert('accounts', [account])
    yield* writer.insert('members', [{ organization_id, user_id: user.id, role: 'owner' }])
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
  return add(location, fixture, function* added(writer) {
    const account = yield* accountNamed(writer, owner)
    if (account === undefined)
      throw new ForgeError('USER_NOT_FOUND', 'no user or organization has the name of the owner')

    const row = repositoryRow(repository, account.id, new Date())
    const taken = sql`select name from ${writer.context.table('repositories')}
      where owner_id = ${account.id} and folded_name = ${row.folded_name}`
    if ((yield* writer.rows(taken)).length > 0) return false

    yield* writer.insert('repositories', [row])
    return true
  })
}

/**
 * Adds to a database, in a transaction in which nothing else is added.
 *
 * @param fixture - has the new names: they must be those of a valid one
 */
async function add<T>(location: DatabaseLocation, fixture: object, steps: (writer: RowWriter) => Steps<T>): Promise<T> {
  parseFixture(fixture)
  return onReadyDatabase(location, (database) => database.write(steps))
}

function* accountNamed(
  { context: { forms, table }, rows }: RowWriter,
  name: string,
): Steps<Pick<Row<'accounts'>, 'id' | 'kind'> | undefined> {
  const [account] = yield* rows(
    sql<Pick<Row<'accounts'>, 'id' | 'kind'>>`select ${forms.number(raw('id'))} as id, kind
      from ${table('accounts')} where folded_name = ${normalizeName(name)}`,
  )
  return account
}
