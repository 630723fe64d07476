import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeHandler } from '../http-adapters/node.ts'
import type { Standalone } from '../standalone/standalone.ts'
import type { Reception } from './create-json-server.ts'
import { errorBody, replyJson } from './json-reply.ts'
import { answerPage } from './own-page.ts'
import type { OwnPages } from './own-pages.ts'
import { ownPages } from './own-pages.ts'
import { API_PATH } from './public-url.ts'

/** Takes every request of the server: the API's, those for the server's own pages, and what nobody answers. */
export class RequestListener implements Reception {
  docsUrl = ''
  #receive: Reception['receive'] = (_, response) =>
    replyJson(response, 503, errorBody('STORAGE_UNAVAILABLE', 'starting', this.docsUrl), [['Retry-After', '1']])

  receive(request: IncomingMessage, response: ServerResponse): void {
    this.#receive(request, response)
  }

  /**
   * From now on requests go to the host; until then they are told to come back.
   *
   * @param publicUrl - where clients see the API root, when somebody has told
   */
  open(host: Pick<Standalone, 'api' | 'authenticate'>, publicUrl?: string | undefined): void {
    const pages = ownPages(host.api, publicUrl)
    const api = nodeHandler<{ id: string; username: string }, IncomingMessage>(host.api, {
      basePath: API_PATH,
      authenticate: (request) => host.authenticate(request.headers.authorization),
    })
    this.#receive = (request, response) => api(request, response, () => this.#outside(pages, request, response))
  }

  #outside(pages: OwnPages, request: IncomingMessage, response: ServerResponse): void {
    const path = PATH.exec(request.url ?? '')?.[1] ?? ''
    const page = pages.get(path) ?? pages.get(path.replace(/\/$/, ''))
    if (page === undefined) replyJson(response, 404, errorBody('ROUTE_NOT_FOUND', 'not found', this.docsUrl))
    else answerPage(page, { request, response, docsUrl: this.docsUrl })
  }
}

/** Proxies send the whole address, its scheme in any case; one slash too many does no harm. */
const PATH = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i
