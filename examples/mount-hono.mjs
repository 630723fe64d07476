// forgelet in a Hono application, behind its middleware: what is not forgelet's goes on to the routes below.
//
//   node examples/mount-hono.mjs
//   curl -X POST -H 'Authorization: Bearer olga-token' http://127.0.0.1:3000/api/v1/repos/acme/rocket/issues/2/pin
import { serve } from '@hono/node-server'
import { ForgeError } from 'forgelet'
import { fetchHandler } from 'forgelet/fetch'
import { Hono } from 'hono'
import { api, users } from './small-forge.mjs'

const forgelet = fetchHandler(api, {
  basePath: '/api/v1',
  authenticate(_request, context) {
    const user = context.get('user')
    if (user === undefined) throw new ForgeError('INVALID_CREDENTIALS', 'no such token')
    return user
  },
})

const app = new Hono()
app.use(async (context, next) => {
  const authorization = context.req.header('authorization')
  const user = users.find(({ token }) => authorization === `Bearer ${token}`)
  context.set('user', authorization ? user : null) // null: no one is signed in; undefined: the token is wrong
  await next()
})
app.use('/api/v1/*', async (context, next) => (await forgelet.match(context.req.raw, context)) ?? next())
app.get('/', (context) => context.text(`Hello ${context.get('user')?.login ?? 'stranger'}`))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/`)
})
