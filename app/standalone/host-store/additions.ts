import { ForgeError } from 'forgelet'
import type { SyncOrAsync } from '../../../src/schema/sync-or-async.ts'
import { compileStatement } from '../../../src/storage/sql/query.ts'
import type { Session } from '../../../src/storage/sql/session.ts'
import { queryFirst } from '../../../src/storage/sql/session.ts'
import { parseFixture } from '../fixture/parse-fixture.ts'
import { normalizeName } from '../host-names.ts'
import type { HostDatabase } from './host-database.ts'
import { accountRow, repositoryRow } from './load-fixture.ts'
import type { DatabaseLocation } from './open-host-database.ts'
import { onExistingDatabase } from './open-host-database.ts'
import { NO_ID } from './roles.ts'
import { RowWriter } from './row-writer.ts'

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
    return database.write(function* write(session) {
      const user = yield* accountNamed(database, session, owner)
      if (user?.kind !== 'user') throw new ForgeError('USER_NOT_FOUND', 'no user has the name of the owner')
      if ((yield* accountNamed(database, session, name)) !== undefined) return false

      const rows = rowsIn(database, session)
      const [organization_id = NO_ID] = yield* rows.insert('accounts', [
        accountRow('organization', { name }, new Date()),
      ])
      yield* rows.insert('members', [{ organization_id, user_id: user.id, role: 'owner' }])
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
    const { build, columns } = database.context
    return database.write(function* write(session) {
      const account = yield* accountNamed(database, session, owner)
      if (account === undefined)
        throw new ForgeError('USER_NOT_FOUND', 'no user or organization has the name of the owner')

      const row = repositoryRow(repository, account.id, new Date())
      const others = build.selectFrom('repositories').select(columns.number('id').as('id'))
      const taken = others.where('owner_id', '=', account.id).where('folded_name', '=', row.folded_name)
      if ((yield* queryFirst(session, compileStatement(taken))) !== undefined) return false

      yield* rowsIn(database, session).insert('repositories', [row])
      return true
    })
  })
}

function accountNamed<Tx>(
  { context }: HostDatabase<Tx>,
  session: Session,
  name: string,
): SyncOrAsync<{ readonly id: number; readonly kind: string } | undefined> {
  const { build, columns } = context
  const accounts = build.selectFrom('accounts').select([columns.number('id').as('id'), 'kind'])
  return queryFirst(session, compileStatement(accounts.where('folded_name', '=', normalizeName(name))))
}

function rowsIn<Tx>({ context }: HostDatabase<Tx>, session: Session): RowWriter {
  return new RowWriter(context, (statement) => session.all(statement))
}
