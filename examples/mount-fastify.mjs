// forgelet in a Fastify application, as a middleware before its routes and body parsers.
//
//   node examples/mount-fastify.mjs
//   curl -X POST -H 'Authorization: Bearer olga-token' http://127.0.0.1:3000/api/v1/repos/acme/rocket/issues/2/pin
import middie from '@fastify/middie'
import fastify from 'fastify'
import { nodeHandler } from 'forgelet/node'
import { api, userOf } from './small-forge.mjs'

const forgelet = nodeHandler(api, {
  basePath: '/api/v1',
  authenticate: (request) => userOf(request.headers.authorization),
})

const app = fastify({
  // Fastify refuses a path with a malformed % before any middleware. The API answers 404 there, like Gitea.
  frameworkErrors(error, request, reply) {
    forgelet(request.raw, reply.raw, () => reply.send(error))
  },
})
await app.register(middie)
app.use(forgelet)
app.get('/', () => 'a forge')

console.log(`${await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })}/`)
