// forgelet in a Fastify application, as a middleware before its routes and body parsers.
//
//   node examples/mount-fastify.mjs
//   curl -X POST -H 'Authorization: Bearer olga-token' http://127.0.0.1:3000/api/v1/repos/acme/rocket/issues/2/pin
import middie from '@fastify/middie'
import fastify from 'fastify'
import { nodeHandler } from 'forgelet/node'
import { api, userOf } from './small-forge.mjs'

const app = fastify()
await app.register(middie)
app.use('/api/v1', nodeHandler(api, { authenticate: (request) => userOf(request.headers.authorization) }))
app.get('/', () => 'a forge')

console.log(`${await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })}/`)
