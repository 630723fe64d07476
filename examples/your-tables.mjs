// A forge on Express and PostgreSQL, with tables and a login of its own, and forgelet beside them: pins, blocks and badges
// refer to the rows of the forge, so that no code in it has to report what it deletes or whom it adds. On SQLite and MariaDB
// only the four lines that end in `PostgreSQL` differ. The database has these tables:
//
//   users (id, username, token, admin, deleted_at)   orgs (id, slug)   org_members (org_id, user_id, role)
//   repos (id, org_id, name, private)   issues (id, repo_id, number, is_pull, title, closed, author_id)
//
//   DATABASE_URL=postgres://postgres@127.0.0.1/forge node examples/your-tables.mjs
//   curl -X POST -H 'Authorization: token TOKEN' http://127.0.0.1:3000/api/v1/repos/acme/rocket/issues/2/pin
import express from 'express'
import { createForge, ForgeError, isForgeError, rolePolicy, tableRoles } from 'forgelet'
import { expressHandler } from 'forgelet/express'
import { createApi, presentTables, statusOf } from 'forgelet/http'
import { postgresStorage as sqlStorage } from 'forgelet/storage/postgres' // PostgreSQL
import pg from 'pg' // PostgreSQL

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL }) // PostgreSQL
const first = async (text, value) => (await pool.query(text.replace('?', '$1'), [value])).rows[0] // PostgreSQL

const storage = sqlStorage(pool, {
  tables: {
    users: { table: 'users', name: 'username', where: 'deleted_at is null' },
    organizations: { table: 'orgs', name: 'slug' },
    members: { table: 'org_members', organization: 'org_id', user: 'user_id', owner: "role = 'owner'" },
    repositories: { table: 'repos', owner: { organization: 'org_id' }, private: 'private' },
    issues: {
      table: 'issues',
      repository: 'repo_id',
      number: 'number',
      pullRequest: 'is_pull',
      title: 'title',
      closed: 'closed',
      author: 'author_id',
    },
  },
})
await storage.migrate()
const roles = tableRoles(storage, { admin: (user) => Boolean(user.admin) })
const forge = createForge({ storage, policy: rolePolicy(roles) })
const api = createApi(forge, { directory: storage.host, present: presentTables(storage) })

/** The login of this forge: a token in the table of its users. */
async function authenticate({ headers: { authorization } }) {
  if (!authorization) return null // an anonymous caller; a wrong token must not act as one
  const text = 'select id, admin from users where token = ? and deleted_at is null'
  const user = await first(text, authorization.replace(/^(?:token|Bearer) /, ''))
  if (user) return user
  throw new ForgeError('INVALID_CREDENTIALS', 'no such token')
}

const app = express().use('/api/v1', expressHandler(api, { authenticate }))
app.post('/repos/:id/comments', express.json(), async (request, response) => {
  const user = await authenticate(request)
  if (!user) throw new ForgeError('UNAUTHENTICATED', 'sign in to comment')
  const repo = await first('select org_id from repos where id = ?', request.params.id)
  if (!repo) throw new ForgeError('REPOSITORY_NOT_FOUND', 'no such repository')
  const isBlocked = await forge.blocks.isBlocked({ organizationId: repo.org_id, userId: user.id })
  response.sendStatus(isBlocked ? 403 : 201) // a real forge inserts the comment
})
app.use((error, _request, response, next) =>
  isForgeError(error) ? response.sendStatus(statusOf(error.code)) : next(error),
)

const say = () => console.log(`http://127.0.0.1:${server.address().port}/`)
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', say)
