// A forge on Express and better-sqlite3: it creates an issue and pins it in one transaction of its own, both or neither.
//
//   DATABASE_FILE=forge.sqlite node examples/pin-new-issue-sqlite.mjs
//   curl -H 'Authorization: Bearer olga-token' -H 'Content-Type: application/json' \
//        -d '{"title":"Read this first"}' http://127.0.0.1:3000/issues
import Database from 'better-sqlite3'
import express from 'express'
import { createForge, isForgeError, rolePolicy } from 'forgelet'
import { sqliteStorage } from 'forgelet/storage/sqlite'

const STATUS = { UNAUTHENTICATED: 401, PIN_LIMIT_REACHED: 400, STORAGE_BUSY: 503, STORAGE_UNAVAILABLE: 503 }
const users = new Map([['Bearer olga-token', { id: 1, login: 'olga' }]])
const database = new Database(process.env.DATABASE_FILE ?? 'forge.sqlite')
database.exec(`
  create table if not exists issue (id integer primary key, title text not null);
  create table if not exists activity (issue_id integer not null references issue, done text not null)`)

const storage = sqliteStorage(database)
await storage.migrate()
const forge = createForge({
  storage,
  policy: rolePolicy({ isSiteAdmin: () => false, repositoryRole: () => 'admin', organizationRole: () => 'stranger' }),
  membership: { isMember: () => false },
})
forge.events.on((event) => console.log(`${event.type} ${event.issueId}`))

/** Runs to its end without waiting, so no other statement can get into the transaction. */
const createPinned = database.transaction((actor, title) => {
  const { lastInsertRowid } = database.prepare('insert into issue (title) values (?)').run(title)
  const issue = { id: lastInsertRowid, repositoryId: 10, kind: 'issue' }
  const pinned = forge.withTransactionSync(database, ({ pins }) => pins.pin(actor, issue))
  database.prepare('insert into activity values (?, ?)').run(lastInsertRowid, 'created and pinned')
  return pinned
})

const app = express()
app.post('/issues', express.json(), (request, response) => {
  const actor = users.get(request.headers.authorization) ?? 'anonymous'
  const { value, afterCommit } = createPinned.immediate(actor, request.body.title)
  afterCommit() // notifies the listeners, now that it is committed
  response.status(201).json({ id: value.issueId, position: value.position })
})
app.get('/issues', (_request, response) => {
  const found = database.prepare(`select cast(id as text) as id, title, position from issue
    left join forgelet_pins on issue_id = id and kind = 'issue' order by issue.id`)
  response.json(found.all())
})
app.use((error, _request, response, _next) => {
  const status = isForgeError(error) ? STATUS[error.code] : undefined
  if (status === undefined) console.error(error)
  response.status(status ?? 500).json({ code: status === undefined ? 'INTERNAL' : error.code })
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/issues`)
})
