import middie from '@fastify/middie'
import fastify from 'fastify'
import type { Host, Running } from './host.ts'
import { listening, PLAIN } from './host.ts'
import { nodeListener, setHostHeaders } from './node-host.ts'

/** Fastify: as a Connect middleware by middie, and as a route, whose body is ours to read or parsed by Fastify. */
export const fastifyHosts: readonly Host[] = [
  {
    ...PLAIN,
    name: 'Fastify (middie)',
    refusesMalformed: true,
    ownRefusals: [400, 404, 413, 415],
    letsPass: true,
    async start(mounted, { prefix }) {
      const server = fastify()
      await server.register(middie)
      server.use((_request, response, next) => {
        setHostHeaders(response)
        next()
      })
      const mount: Parameters<typeof server.use>[1] = (request, response, next) =>
        nodeListener(mounted(), '')(request, response, next)
      if (prefix === '') server.use(mount)
      else server.use(prefix, mount)
      server.all('/*', (request) => `the host: ${request.originalUrl}`)
      return started(server)
    },
  },
  {
    ...PLAIN,
    name: 'Fastify (route)',
    refusesMalformed: true,
    ownRefusals: [400, 404, 415],
    async start(mounted, { prefix }) {
      const server = fastify()
      // In a scope of its own: what is not parsed there is still parsed elsewhere.
      server.register(async (scope) => {
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', (_request, _body, done) => done(null))
        scope.all(`${prefix}/*`, (request, reply) => {
          reply.hijack()
          setHostHeaders(reply.raw)
          nodeListener(mounted(), prefix)(request.raw, reply.raw)
        })
      })
      return started(server)
    },
  },
  {
    ...PLAIN,
    name: 'Fastify (route behind its JSON parser)',
    refusesMalformed: true,
    ownRefusals: [400, 404, 413, 415],
    async start(mounted, { prefix }) {
      const server = fastify()
      server.addContentTypeParser('*', (_request, _body, done) => done(null))
      server.all(`${prefix}/*`, (request, reply) => {
        reply.hijack()
        setHostHeaders(reply.raw)
        nodeListener(mounted(), prefix)(Object.assign(request.raw, { body: request.body }), reply.raw)
      })
      return started(server)
    },
  },
]

async function started(server: ReturnType<typeof fastify>): Promise<Running> {
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { origin } = listening(server.server)
  return { origin, stop: () => server.close() }
}
