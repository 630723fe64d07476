import { ForgeError } from 'forgelet'
import { parseFixture } from '../fixture/parse-fixture.ts'
import { normalizeName } from '../host-names.ts'
import type { Steps } from '../steps.ts'
import type { Rows } from './host-database.ts'
import { accountRow, repositoryRow } from './load-fixture.ts'
import type { DatabaseLocation } from './open-host-database.ts'
import { onExistingDatabase } from './open-host-database.ts'
import { NO_ID } from './roles.ts'
import { RowWriter } from './row-writer.ts'
import { raw, sql } from './sql.ts'
import type { HostContext, Row } from './tables.ts'

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
  return onExistingDatabase(location, async (database) => {
    parseFixture({ organizations: [{ name }] })
    await database.check()
    return database.write(function* write(rows) {
      const user = yield* accountNamed(database.context, rows, owner)
      if (user?.kind !== 'user') throw new ForgeError('USER_NOT_FOUND', 'no user has the name of the owner')
      if ((yield* accountNamed(database.context, rows, name)) !== undefined) return false

      const writer = new RowWriter(database.context, rows)
      const [organization_id = NO_ID] = yield* writer.insert('accounts', [
        accountRow('organization', { name }, new Date()),
      ])
      yield* writer.insert('members', [{ organization_id, user_id: user.id, role: 'owner' }])
      return true
    })
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
  return onExistingDatabase(location, async (database) => {
    const { owner, name } = repository
    parseFixture({ users: [{ username: owner }], repositories: [{ owner, name }] })
    await database.check()
    const { tables } = database.context
    return database.write(function* write(rows) {
      const account = yield* accountNamed(database.context, rows, owner)
      if (account === undefined)
        throw new ForgeError('USER_NOT_FOUND', 'no user or organization has the name of the owner')

      const row = repositoryRow(repository, account.id, new Date())
      const taken = sql`select name from ${tables.repositories}
        where owner_id = ${account.id} and folded_name = ${row.folded_name}`
      if ((yield* rows(taken)).length > 0) return false

      yield* new RowWriter(database.context, rows).insert('repositories', [row])
      return true
    })
  })
}

function* accountNamed(
  { forms, tables }: HostContext,
  rows: Rows,
  name: string,
): Steps<Pick<Row<'accounts'>, 'id' | 'kind'> | undefined> {
  const [account] = yield* rows(
    sql<Pick<Row<'accounts'>, 'id' | 'kind'>>`select ${forms.number(raw('id'))} as id, kind
      from ${tables.accounts} where folded_name = ${normalizeName(name)}`,
  )
  return account
}
