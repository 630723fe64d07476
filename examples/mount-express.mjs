// forgelet in an Express application that has its own login: a user who is signed in there is signed in here.
//
//   node examples/mount-express.mjs
//   curl -c cookies -X POST -d login=olga http://127.0.0.1:3000/login
//   curl -b cookies -X POST http://127.0.0.1:3000/api/v1/repos/acme/rocket/issues/2/pin
import { randomUUID } from 'node:crypto'
import express from 'express'
import { expressHandler } from 'forgelet/express'
import { api, users } from './small-forge.mjs'

const sessions = new Map()
const app = express()
app.use((request, _response, next) => {
  request.user = sessions.get(/(?:^|; )session=([^;]*)/.exec(request.headers.cookie ?? '')?.[1])
  next()
})

// The one line. Unsafe requests that a browser sends for another site are refused: the cookie would come with them.
app.use('/api/v1', expressHandler(api, { authenticate: (request) => request.user ?? null }))

app.use(express.json()) // after the API: it reads its own bodies, and only those of callers who may send them
app.post('/login', express.urlencoded(), (request, response) => {
  const user = users.find(({ login }) => login === request.body.login) // a real login asks for a password
  if (!user) return response.sendStatus(401)
  const session = randomUUID()
  sessions.set(session, user)
  return response.cookie('session', session, { httpOnly: true, sameSite: 'lax' }).sendStatus(204)
})
app.get('/', (request, response) => response.send(`Hello ${request.user?.login ?? 'stranger'}`))

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`)
})
