import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import type { Host, Mounted, SignedIn } from './host.ts'
import { HOST_HEADERS, PLAIN, running } from './host.ts'

/** Node's own server, with nothing before it and nothing behind. */
export const nodeHost: Host = {
  ...PLAIN,
  name: 'node:http',
  start: (mounted, { prefix }) =>
    running(
      createServer((request, response) => {
        setHostHeaders(response)
        nodeListener(mounted(), prefix)(request, response)
      }),
    ),
}

/** Node's own server without a header of a host: the adapter writes the head in one piece. */
export const untouchedNodeHost: Host = {
  ...PLAIN,
  name: 'node:http, no headers of the host',
  start: (mounted, { prefix }) =>
    running(createServer((request, response) => nodeListener(mounted(), prefix)(request, response))),
}

/** What every host sets, on a response of Node's. */
export function setHostHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HOST_HEADERS)) response.setHeader(name, value)
}

/** The current API, mounted with `nodeHandler`. */
export function nodeListener<A extends SignedIn>(
  { api, authenticate }: Mounted<A>,
  prefix: string,
): ReturnType<typeof nodeHandler<A, IncomingMessage>> {
  return nodeHandler<A, IncomingMessage>(api, {
    basePath: `/${prefix.slice(1)}`,
    authenticate: ({ headers }) => authenticate(headers.authorization),
  })
}
