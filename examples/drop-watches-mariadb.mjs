// A forge on Express and MariaDB with forgelet's routes mounted: who blocks a user through them drops that user's
// watches too, in the same transaction.
//
//   DATABASE_URL=mysql://root@127.0.0.1/forge node examples/drop-watches-mariadb.mjs
//   curl -X PUT -H 'Authorization: Bearer olga-token' http://127.0.0.1:3000/api/v1/orgs/acme/blocks/mia
//   curl http://127.0.0.1:3000/watches
import express from 'express'
import { createForge, ForgeError, rolePolicy } from 'forgelet'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { mysqlStorage } from 'forgelet/storage/mysql'
import mysql from 'mysql2/promise'

const olga = { id: 1, login: 'olga' }
const users = [olga, { id: 2, login: 'mia' }, { id: 3, login: 'noor' }]
const pool = mysql.createPool(process.env.DATABASE_URL)
await pool.query(`
  create table if not exists watch (user_id bigint, organization_id bigint, primary key (user_id, organization_id))`)
await pool.query('insert ignore into watch values (2, 20), (2, 21), (3, 20)')

const storage = mysqlStorage(pool)
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
  async beforeCommit(events, connection) {
    for (const { type, userId, organizationId } of events) {
      if (type !== 'user.blocked') continue
      await connection.query('delete from watch where user_id = ? and organization_id = ?', [userId, organizationId])
    }
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

const app = express()
app.use('/api/v1', nodeHandler(api, { authenticate }))
app.get('/watches', async (_request, response) => {
  const [found] = await pool.query('select user_id, organization_id from watch order by user_id, organization_id')
  response.json(found)
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/watches`)
})
