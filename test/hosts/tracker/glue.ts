import type { IncomingMessage } from 'node:http'
import type { Kysely } from 'kysely'
import { createApi, presentTables } from '../../../src/http-adapters/http.ts'
import type { NodeHandler } from '../../../src/http-adapters/node.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import type { Forge } from '../../../src/index.ts'
import { createForge, ForgeError, rolePolicy, tableRoles } from '../../../src/index.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import type { Database, Person } from './application.ts'
import { personOf } from './application.ts'

// All that the application has of forgelet.

/** What the application uses of it. */
export interface Embedded {
  readonly forge: Forge<Person, unknown>
  readonly handle: NodeHandler<IncomingMessage>
}

export async function embed(database: Kysely<Database>): Promise<Embedded> {
  const storage = postgresStorage(database, {
    ids: { user: 'uuid', organization: 'uuid', repository: 'uuid', issue: 'uuid' },
    tables: {
      users: { schema: 'identity', table: 'people', name: 'handle', fullName: 'name', where: 'deleted_at is null' },
      organizations: { table: 'organizations', name: 'slug', private: 'true' },
      members: {
        schema: 'identity',
        table: 'memberships',
        organization: 'organization_id',
        user: 'person_id',
        where: 'left_at is null',
        owner: "role in ('OWNER', 'MANAGER')",
      },
      repositories: {
        table: 'project_paths', // a view: the workspaces are between a project and its organization
        keys: false,
        name: 'slug',
        owner: { organization: 'organization_id' },
        private: "visibility <> 'PUBLIC'",
      },
      issues: {
        table: 'tasks',
        repository: 'project_id',
        number: 'number',
        where: 'trashed_at is null',
        title: 'title',
        body: 'notes',
        closed: "status = 'DONE'",
        author: 'author_id',
        createdAt: 'created_at',
      },
    },
  })
  await storage.migrate()

  const roles = tableRoles(storage, { admin: (person: Person) => person.isOperator })
  const forge = createForge({
    storage,
    policy: rolePolicy({
      ...roles,
      // No one is anonymous here, and a private project is for its own people.
      async repositoryRole(id, context) {
        const { actor } = context
        const role = await roles.repositoryRole(id, context)
        if (actor === 'anonymous') return 'none'
        if (role !== 'writer') return role
        const { visibility } = await database
          .selectFrom('project_paths')
          .select('visibility')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        if (visibility !== 'PRIVATE') return role
        const own = database.selectFrom('project_people').select('person_id').where('project_id', '=', id)
        return (await own.where('person_id', '=', actor.id).executeTakeFirst()) === undefined ? 'none' : role
      },
    }),
  })
  const api = createApi(forge, { directory: storage.host, present: presentTables(storage) })
  const authenticate = async ({ headers }: IncomingMessage): Promise<Person | null> => {
    if (headers.authorization === undefined) return null
    const person = await personOf(database, headers.authorization.replace(/^Bearer /, ''))
    if (person === undefined) throw new ForgeError('INVALID_CREDENTIALS', 'the token is not valid')
    return person
  }
  return { forge, handle: nodeHandler(api, { authenticate, basePath: '/api/v1' }) }
}
