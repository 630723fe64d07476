import type { Request, RequestHandler } from 'express'
import type pg from 'pg'
import { expressHandler } from '../../../src/http-adapters/express.ts'
import { createApi, presentTables } from '../../../src/http-adapters/http.ts'
import type { Forge } from '../../../src/index.ts'
import { createForge, ForgeError, rolePolicy, tableRoles } from '../../../src/index.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import type { Account } from './application.ts'
import { accountOf } from './application.ts'

// All that the application has of forgelet.

/** What the application uses of it. */
export interface Embedded {
  readonly forge: Forge<Account, unknown>
  readonly prefix: string
  readonly mount: RequestHandler
  /** Whether a user may comment in the repositories of an owner, which may be a user. */
  mayWrite(ownerId: string, account: Account): Promise<boolean>
}

export async function embed(pool: pg.Pool): Promise<Embedded> {
  const issue = {
    repository: 'repository_id',
    number: 'number',
    title: 'title',
    closed: "state <> 'open'",
    author: 'author_id',
    createdAt: 'created_at',
  }
  const storage = postgresStorage(pool, {
    ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' },
    tables: {
      users: { table: 'users', name: 'username', fullName: 'display_name', email: 'email' },
      organizations: { table: 'organizations', name: 'slug' },
      members: {
        table: 'memberships',
        organization: 'organization_id',
        user: 'user_id',
        owner: "role in ('owner', 'admin')",
      },
      repositories: {
        table: 'repositories',
        owner: { organization: 'owner_id', user: 'owner_id' },
        private: "visibility = 'private'",
      },
      issues: { table: 'issues', body: 'body', ...issue },
      pullRequests: { table: 'pull_requests', ...issue },
    },
  })
  await storage.migrate()

  const roles = tableRoles(storage, { admin: (account: Account) => account.isAdmin })
  const forge = createForge({
    storage,
    limits: { maxPins: { issue: 3, pullRequest: 3 } },
    policy: rolePolicy({
      ...roles,
      // What is internal is for everyone who is signed in.
      async repositoryRole(id, context) {
        const role = await roles.repositoryRole(id, context)
        if (context.actor !== 'anonymous' || role === 'none') return role
        const { rows } = await pool.query('select visibility from repositories where id = $1', [id])
        return rows[0]?.visibility === 'public' ? role : 'none'
      },
    }),
  })
  const api = createApi(forge, { directory: storage.host, present: presentTables(storage) })
  const mount = expressHandler(api, {
    async authenticate(request: Request) {
      const account = await accountOf(pool, request)
      if (account === undefined) throw new ForgeError('INVALID_CREDENTIALS', 'the session or the token is not valid')
      return account
    },
  })
  return {
    forge,
    mount,
    prefix: '/api/v1',
    mayWrite: async (ownerId: string, { id }: Account) =>
      !(await forge.blocks.isBlocked({ organizationId: ownerId, userId: id })),
  }
}
