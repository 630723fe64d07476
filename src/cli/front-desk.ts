import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeHandler } from '../http-adapters/node.ts'
import type { Standalone } from '../standalone/standalone.ts'
import { packageVersion } from './package-version.ts'

type Receive = (request: IncomingMessage, response: ServerResponse) => void

/** The version of the Gitea API that is followed: clients ask for it to know what they may call. Ours stands behind the `+`. */
const API_VERSION = '1.26.4'

/** Takes every request of the server: the API's, `GET /api/v1/version`, and what nobody answers. */
export class FrontDesk {
  #receive: Receive = (_, response) => reply(response, 503, STARTING, [['Retry-After', '1']])

  /** Answers one request. */
  receive(request: IncomingMessage, response: ServerResponse): void {
    this.#receive(request, response)
  }

  /** From now on requests go to the host; until then they are told to come back. */
  open(host: Standalone): void {
    const api = nodeHandler<{ id: string; username: string }, IncomingMessage>(host.api, {
      basePath: '/api/v1',
      authenticate: (request) => host.authenticate(request.headers.authorization),
    })
    this.#receive = (request, response) => api(request, response, () => this.#outside(request, response))
  }

  #outside(request: IncomingMessage, response: ServerResponse): void {
    if (!VERSION_TARGET.test(request.url ?? '')) reply(response, 404, NOT_FOUND)
    else this.#answerVersion(request.method, response)
  }

  #answerVersion(method: string | undefined, response: ServerResponse): void {
    if (method === 'GET' || method === 'HEAD')
      reply(response, 200, { version: `${API_VERSION}+forgelet-${packageVersion()}` })
    else if (method === 'OPTIONS') reply(response, 204, undefined, [ALLOW])
    else reply(response, 405, NOT_ALLOWED, [ALLOW])
  }
}

/** Proxies send the whole address; one slash too many does no harm. */
const VERSION_TARGET = /^(https?:\/\/[^/?#]*)?\/api\/v1\/version\/?(\?.*)?$/i
const ALLOW = ['Allow', 'GET, HEAD, OPTIONS'] as const
const STARTING = { message: 'starting', url: '', code: 'STORAGE_UNAVAILABLE' }
const NOT_FOUND = { message: 'not found', url: '', code: 'ROUTE_NOT_FOUND' }
const NOT_ALLOWED = { message: 'method not allowed', url: '', code: 'METHOD_NOT_ALLOWED' }

function reply(
  response: ServerResponse,
  status: number,
  body: object | undefined,
  headers: readonly (readonly [string, string])[] = [],
): void {
  response.statusCode = status
  for (const [name, value] of headers) response.setHeader(name, value)
  if (body === undefined) {
    response.end()
    return
  }
  response.setHeader('Content-Type', 'application/json;charset=utf-8')
  response.setHeader('Cache-Control', 'max-age=0, private, must-revalidate')
  response.end(JSON.stringify(body))
}
