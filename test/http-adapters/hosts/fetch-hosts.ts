import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { fetchHandler } from '../../../src/http-adapters/fetch.ts'
import type { Host, Mounted, SignedIn } from './host.ts'
import { HOST_HEADERS, PLAIN, running } from './host.ts'

/** A function of Fetch requests, bare; and Hono, where the API is a route, is mounted, and is a middleware that lets paths pass. */
export const fetchHosts: readonly Host[] = [
  {
    ...PLAIN,
    name: 'Fetch',
    resolvesDots: true,
    start: (mounted, { prefix }) =>
      served(async (request) => {
        const { status, headers, body } = await fetchListener(mounted(), prefix)(request)
        const all = new Headers(headers)
        for (const [name, value] of hostHeaders()) all.append(name, value)
        return new Response(body, { status, headers: all })
      }),
  },
  {
    ...PLAIN,
    name: 'Hono (route)',
    resolvesDots: true,
    start(mounted, { prefix }) {
      const application = withHostHeaders(new Hono())
      application.all(`${prefix}/*`, (context) => fetchListener(mounted(), prefix)(context.req.raw))
      return served(application.fetch)
    },
  },
  {
    ...PLAIN,
    name: 'Hono (mount)',
    resolvesDots: true,
    start(mounted, { prefix }) {
      const application = withHostHeaders(new Hono())
      // The request as it came: the one that Hono makes has been decoded once.
      application.mount(prefix === '' ? '/' : prefix, (request) => fetchListener(mounted(), prefix)(request), {
        replaceRequest: false,
        optionHandler: (context) => context.env,
      })
      return served(application.fetch)
    },
  },
  {
    ...PLAIN,
    name: 'Hono (middleware)',
    resolvesDots: true,
    letsPass: true,
    start(mounted, { prefix }) {
      const application = withHostHeaders(new Hono())
      application.use(
        `${prefix}/*`,
        async (context, next) => (await fetchListener(mounted(), prefix).match(context.req.raw)) ?? next(),
      )
      application.all('*', (context) => {
        const { pathname, search } = new URL(context.req.url)
        return context.text(`the host: ${pathname}${search}`)
      })
      return served(application.fetch)
    },
  },
]

function withHostHeaders(application: Hono): Hono {
  return application.use(async (context, next) => {
    await next()
    for (const [name, value] of hostHeaders()) context.header(name, value, { append: true })
  })
}

function hostHeaders(): readonly (readonly [string, string])[] {
  return Object.entries(HOST_HEADERS).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))
}

function fetchListener<A extends SignedIn>(
  { api, authenticate }: Mounted<A>,
  prefix: string,
): ReturnType<typeof fetchHandler<A>> {
  return fetchHandler<A>(api, {
    basePath: `/${prefix.slice(1)}`,
    authenticate: ({ headers }) => authenticate(headers.get('authorization') ?? undefined),
  })
}

function served(fetch: (request: Request) => Response | Promise<Response>): ReturnType<typeof running> {
  // Its other globals stay those of Node: other hosts run in this process.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false })
  return running(server as Server) // node:http, unless another createServer is given
}
