// A forge on Express and PostgreSQL: it creates an issue and pins it in one transaction of its own, both or neither.
//
//   DATABASE_URL=postgres://postgres@127.0.0.1/forge node examples/pin-new-issue-postgres.mjs
//   curl -H 'Authorization: Bearer olga-token' -H 'Content-Type: application/json' \
//        -d '{"title":"Read this first"}' http://127.0.0.1:3000/issues
import express from 'express'
import { createForge, isForgeError, rolePolicy } from 'forgelet'
import { inTransaction, postgresStorage } from 'forgelet/storage/postgres'
import pg from 'pg'

const STATUS = { UNAUTHENTICATED: 401, PIN_LIMIT_REACHED: 400, STORAGE_BUSY: 503, STORAGE_UNAVAILABLE: 503 }
const users = new Map([['Bearer olga-token', { id: 1, login: 'olga' }]])
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', (error) => console.error(error.message)) // an idle connection was lost: the pool makes another
await pool.query(`
  create table if not exists issue (id bigint generated always as identity primary key, title text not null);
  create table if not exists activity (issue_id bigint not null references issue, done text not null)`)

const storage = postgresStorage(pool)
await storage.migrate()
const forge = createForge({
  storage,
  policy: rolePolicy({ isSiteAdmin: () => false, repositoryRole: () => 'admin', organizationRole: () => 'stranger' }),
  membership: { isMember: () => false },
})
forge.events.on((event) => console.log(`${event.type} ${event.issueId}`))

/** Runs again if the database gives the transaction up in favour of another; the listeners hear of it behind the COMMIT. */
function createPinned(actor, title) {
  return inTransaction(forge, pool, async ({ pins }, client) => {
    const { rows } = await client.query('insert into issue (title) values ($1) returning id', [title])
    const pin = await pins.pin(actor, { id: rows[0].id, repositoryId: 10, kind: 'issue' })
    await client.query('insert into activity values ($1, $2)', [rows[0].id, 'created and pinned'])
    return pin
  })
}

const app = express()
app.post('/issues', express.json(), async (request, response) => {
  const actor = users.get(request.headers.authorization) ?? 'anonymous'
  const { issueId, position } = await createPinned(actor, request.body.title)
  response.status(201).json({ id: issueId, position })
})
app.get('/issues', async (_request, response) => {
  const found = await pool.query(`select id, title, position::int from issue
    left join forgelet_pins on issue_id = id and kind = 'issue' order by id`)
  response.json(found.rows)
})
app.use((error, _request, response, _next) => {
  const status = isForgeError(error) ? STATUS[error.code] : undefined
  if (status === undefined) console.error(error)
  response.status(status ?? 500).json({ code: status === undefined ? 'INTERNAL' : error.code })
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/issues`)
})
