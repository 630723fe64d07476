// A forge on node:http and better-sqlite3 with forgelet's routes mounted: who blocks a user through them drops that user's
// watches too, in the same transaction.
//
//   DATABASE_FILE=forge.sqlite node examples/drop-watches-sqlite.mjs
//   curl -X PUT -H 'Authorization: Bearer olga-token' http://127.0.0.1:3000/api/v1/orgs/acme/blocks/mia
//   curl http://127.0.0.1:3000/watches
import { createServer } from 'node:http'
import Database from 'better-sqlite3'
import { createForge, ForgeError, rolePolicy } from 'forgelet'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { sqliteStorage } from 'forgelet/storage/sqlite'

const olga = { id: 1, login: 'olga' }
const users = [olga, { id: 2, login: 'mia' }, { id: 3, login: 'noor' }]
const database = new Database(process.env.DATABASE_FILE ?? 'forge.sqlite')
database.exec(`
  create table if not exists watch (user_id integer, organization_id integer, primary key (user_id, organization_id));
  insert or ignore into watch values (2, 20), (2, 21), (3, 20)`)

const storage = sqliteStorage(database)
await storage.migrate()
const forge = createForge({
  services: ['blocks'], // the others would need repositories and issues below
  storage,
  policy: rolePolicy({
    isSiteAdmin: () => false,
    repositoryRole: () => 'reader',
    organizationRole: (_id, { actor }) => (actor.id === olga.id ? 'owner' : 'stranger'),
  }),
  membership: { isMember: () => false },
  beforeCommit(events, handle) {
    const drop = handle.prepare('delete from watch where user_id = ? and organization_id = ?')
    for (const { type, userId, organizationId } of events) if (type === 'user.blocked') drop.run(userId, organizationId)
  },
})

const api = createApi(forge, {
  directory: {
    findAccount(name) {
      if (name === 'acme') return { kind: 'organization', id: 20 }
      const user = users.find(({ login }) => login === name)
      return user && { kind: 'user', id: user.id }
    },
  },
  present: { users: (ids) => ids.map((id) => users.find((user) => String(user.id) === id)) },
})

function authenticate({ headers }) {
  if (!headers.authorization) return null // an anonymous caller; a wrong token must not act as one
  if (headers.authorization === 'Bearer olga-token') return olga
  throw new ForgeError('INVALID_CREDENTIALS', 'no such token')
}

const handle = nodeHandler(api, { authenticate, basePath: '/api/v1' })
const server = createServer((request, response) => {
  handle(request, response, () => {
    const found = database.prepare('select user_id, organization_id from watch order by user_id, organization_id')
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(found.all()))
  })
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/watches`)
})
