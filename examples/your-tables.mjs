// A forge on Express and PostgreSQL, with tables and a login of its own, and forgelet beside them: pins, blocks and badges
// refer to the rows of the forge, so nothing is reported. `POSTGRES_URL` names a database with the tables of `TABLES_SQL`.
import express from 'express'
import { createForge, ForgeError, isForgeError, rolePolicy, tableRoles } from 'forgelet'
import { expressHandler } from 'forgelet/express'
import { createApi, presentTables } from 'forgelet/http'
import { postgresStorage } from 'forgelet/storage/postgres'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL, allowExitOnIdle: true })
const storage = postgresStorage(pool, {
  tables: {
    users: { table: 'users', name: 'username', where: 'deleted_at is null' },
    organizations: { table: 'orgs', name: 'slug' },
    members: { table: 'org_members', organization: 'org_id', user: 'user_id', owner: "role = 'owner'" },
    repositories: { table: 'repos', owner: { organization: 'org_id' }, private: 'private' },
    issues: { table: 'issues', repository: 'repo_id', number: 'number', pullRequest: 'is_pull', title: 'title', closed: 'closed' },
  },
})
await storage.migrate()

export const forge = createForge({
  storage,
  policy: rolePolicy(tableRoles(storage, { admin: (user) => user.admin })),
})
const api = createApi(forge, { directory: storage.host, present: presentTables(storage) })

async function authenticate({ headers: { authorization } }) {
  if (!authorization) return null
  const text = 'select id, admin from users where token = $1 and deleted_at is null'
  const { rows } = await pool.query(text, [authorization.replace(/^token /, '')])
  if (rows.length === 0) throw new ForgeError('INVALID_CREDENTIALS', 'no such token')
  return rows[0]
}

export const app = express()
app.use('/api/v1', expressHandler(api, { authenticate }))
app.post('/repos/:id/comments', async (request, response) => {
  const user = await authenticate(request)
  const { rows } = await pool.query('select org_id from repos where id = $1', [request.params.id])
  const isBlocked = await forge.blocks.isBlocked({ organizationId: rows[0].org_id, userId: user.id })
  response.sendStatus(isBlocked ? 403 : 201)
})
