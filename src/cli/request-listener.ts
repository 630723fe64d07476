import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeHandler } from '../http-adapters/node.ts'
import type { Standalone } from '../standalone/standalone.ts'
import type { Receive } from './create-json-server.ts'
import { errorBody, replyJson } from './json-reply.ts'
import { packageVersion } from './package-version.ts'

/** The version of the Gitea API that is followed: clients ask for it to know what they may call. Ours stands behind the `+`. */
const API_VERSION = '1.26.4'

/** Takes every request of the server: the API's, `GET /api/v1/version`, and what nobody answers. */
export class RequestListener {
  #receive: Receive = (_, response) => replyJson(response, 503, STARTING, [['Retry-After', '1']])

  /** Answers one request. */
  receive(request: IncomingMessage, response: ServerResponse): void {
    this.#receive(request, response)
  }

  /** From now on requests go to the host; until then they are told to come back. */
  open(host: Pick<Standalone, 'api' | 'authenticate'>): void {
    const api = nodeHandler<{ id: string; username: string }, IncomingMessage>(host.api, {
      basePath: '/api/v1',
      authenticate: (request) => host.authenticate(request.headers.authorization),
    })
    this.#receive = (request, response) => api(request, response, () => this.#outside(request, response))
  }

  #outside(request: IncomingMessage, response: ServerResponse): void {
    if (!VERSION_TARGET.test(request.url ?? '')) replyJson(response, 404, NOT_FOUND)
    else this.#answerVersion(request.method, response)
  }

  #answerVersion(method: string | undefined, response: ServerResponse): void {
    if (method === 'GET' || method === 'HEAD')
      replyJson(response, 200, { version: `${API_VERSION}+forgelet-${packageVersion()}` })
    else if (method === 'OPTIONS') response.writeHead(204, { Allow: ALLOW }).end()
    else replyJson(response, 405, NOT_ALLOWED, [['Allow', ALLOW]])
  }
}

/** Proxies send the whole address, its scheme in any case; one slash too many does no harm. */
const VERSION_TARGET = /^([Hh][Tt]{2}[Pp][Ss]?:\/\/[^/?#]*)?\/api\/v1\/version\/?(\?.*)?$/
const ALLOW = 'GET, HEAD, OPTIONS'
const STARTING = errorBody('STORAGE_UNAVAILABLE', 'starting')
const NOT_FOUND = errorBody('ROUTE_NOT_FOUND', 'not found')
const NOT_ALLOWED = errorBody('METHOD_NOT_ALLOWED', 'method not allowed')
