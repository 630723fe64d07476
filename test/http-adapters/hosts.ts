import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import middie from '@fastify/middie'
import { createAdaptorServer } from '@hono/node-server'
import express5 from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expressHandler } from '../../src/http-adapters/express.ts'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import type { Api } from '../../src/http-adapters/http.ts'
import { nodeHandler } from '../../src/http-adapters/node.ts'
import type { Running } from '../http.ts'
import { listening } from '../http.ts'
import type { Person } from '../world.ts'
import { authenticate } from '../world.ts'

// An API mounted in five frameworks, as their users would: on real servers.

/** Where an API is mounted, and what stands before it. */
export interface Mounting {
  /** `""`, or a path without a slash at its end. */
  readonly prefix: string
  /** The parser of bodies that a request meets before the API. */
  readonly before?: Parser | undefined
}

export type Parser = 'json' | 'raw'

/** A framework. */
export interface Host {
  readonly name: 'node:http' | 'Express 4' | 'Express 5' | 'Fastify' | 'Hono'
  /** The parsers that it can have before the API. */
  readonly parsers: readonly Parser[]
  /**
   * Starts a server on a port of its own, with an API that is asked for at every request. Before the API the host sets
   * `HOST_HEADERS`; what the API lets pass it answers with `the host: PATH?QUERY`.
   */
  start(api: () => Api<Person>, mounting: Mounting): Promise<Running>
}

export const HOST_HEADERS: Readonly<Record<string, string | readonly string[]>> = {
  'Set-Cookie': ['host=1', 'theme=dark'],
  'X-Host': 'here',
}

export function setHostHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HOST_HEADERS)) response.setHeader(name, value)
}

type Next = () => void

function nodeListener(api: Api<Person>, basePath: `/${string}` = '/') {
  return nodeHandler<Person, IncomingMessage>(api, {
    basePath,
    authenticate: ({ headers }) => authenticate(headers.authorization),
  })
}

export const nodeHost: Host = {
  name: 'node:http',
  parsers: [],
  start: (api, { prefix }) =>
    listening(
      createServer((request, response) => {
        setHostHeaders(response)
        nodeListener(api(), `/${prefix.slice(1)}`)(request, response, () => response.end(`the host: ${request.url}`))
      }),
    ),
}

interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string
  body: unknown
}

type ExpressHandle = (request: ExpressRequest, response: ServerResponse, next: Next) => unknown

/** What Express 4 and 5 have in common, as far as it is used here. */
interface Express {
  (): {
    (request: IncomingMessage, response: ServerResponse): unknown
    use(path: string, ...handles: ExpressHandle[]): unknown
  }
  json(): ExpressHandle
  raw(options: { readonly type: () => boolean }): ExpressHandle
}

function hostOfExpress(name: Host['name'], express: Express, before: readonly Parser[]): Host {
  const parsers = {
    json: () => express.json(),
    raw: () => express.raw({ type: () => true }),
  }
  return {
    name,
    parsers: before,
    start(api, { prefix, before }) {
      const application = express()
      application.use('/', (_request, response, next) => {
        setHostHeaders(response)
        next()
      })
      if (before !== undefined) application.use('/', parsers[before]())
      application.use(`/${prefix.slice(1)}`, (request, response, next) =>
        expressHandler(api(), {
          authenticate: ({ headers }: ExpressRequest) => authenticate(headers.authorization),
        })(request, response, next),
      )
      application.use('/', (request, response) => response.end(`the host: ${request.originalUrl}`))
      return listening(createServer(application))
    },
  }
}

const express4Host = hostOfExpress('Express 4', express4, ['json'])
export const express5Host: Host = hostOfExpress('Express 5', express5, ['json', 'raw'])

/** As middleware by middie; behind the JSON parser of Fastify, as a route. */
const fastifyHost: Host = {
  name: 'Fastify',
  parsers: ['json'],
  async start(api, { prefix, before }) {
    const server = fastify()
    if (before === 'json') {
      server.addContentTypeParser('*', (_request, _body, done) => done(null))
      server.all(`${prefix}/*`, (request, reply) => {
        reply.hijack()
        setHostHeaders(reply.raw)
        const parsed = Object.assign(request.raw, { body: request.body })
        nodeListener(api(), `/${prefix.slice(1)}`)(parsed, reply.raw)
      })
    } else {
      await server.register(middie)
      server.use((_request, response, next) => {
        setHostHeaders(response)
        next()
      })
      const mount = (request: IncomingMessage, response: ServerResponse, next: Next): void =>
        void nodeListener(api())(request, response, next)
      if (prefix === '') server.use(mount)
      else server.use(prefix, mount)
      server.all('/*', (request) => `the host: ${request.originalUrl}`)
    }
    await server.ready()
    return listening(server.server)
  },
}

const honoHost: Host = {
  name: 'Hono',
  parsers: [],
  start(api, { prefix }) {
    const application = new Hono().use(async (context, next) => {
      await next()
      for (const [name, value] of Object.entries(HOST_HEADERS)) {
        for (const one of [value].flat()) context.header(name, one, { append: true })
      }
    })
    application.use(`${prefix}/*`, async (context, next) => {
      const { match } = fetchHandler<Person>(api(), {
        basePath: `/${prefix.slice(1)}`,
        authenticate: ({ headers }) => authenticate(headers.get('authorization') ?? undefined),
      })
      return (await match(context.req.raw)) ?? next()
    })
    application.all('*', ({ text, req }) => {
      const { pathname, search } = new URL(req.url)
      return text(`the host: ${pathname}${search}`)
    })
    // Its other globals stay those of Node: other hosts run in this process. The server is one of node:http by default.
    return listening(createAdaptorServer({ fetch: application.fetch, overrideGlobalObjects: false }) as Server)
  },
}

export const hosts: readonly Host[] = [nodeHost, express4Host, express5Host, fastifyHost, honoHost]

/** One for each way of carrying bytes: the streams of Node, and those of Fetch. */
export const carriers: readonly Host[] = [nodeHost, honoHost]
