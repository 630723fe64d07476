import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { nodeHandler } from '../http-adapters/node.ts'
import type { Standalone } from '../standalone/standalone.ts'
import { errorBody, jsonHeaders, replyJson } from './json-reply.ts'
import { API_PATH } from './public-url.ts'
import type { StaticPages } from './static-page.ts'
import { answerPage, staticPages } from './static-page.ts'

/** Answers requests. */
export interface RequestHandler {
  /** Answers one. */
  receive(request: IncomingMessage, response: ServerResponse): void
  /** Where the API page is, as errors name it; `""` while it is not known. */
  readonly docsUrl: string
}

/**
 * Milliseconds after which a connection is closed on which nothing moves, in either direction: a client that does not read
 * its reply, or does not finish its request, must not hold the reply for ever.
 */
const MAX_SILENCE_MS = 30_000
/** How many requests a client may send ahead on one connection; one more closes the connection. */
export const MAX_WAITING_REQUESTS = 32

/**
 * An HTTP server that replies in JSON also to what Node refuses before it is a request: clients of the API read every body.
 * Requests that are sent ahead on one connection (pipelining) are handled one after another, each when the reply to the one
 * before it has been sent: however much a client asks for and does not read, the server holds one reply for it.
 *
 * @param maxSilenceMs - closes a connection on which nothing moves for this long
 */
export function createJsonServer(reception: RequestHandler, maxSilenceMs: number = MAX_SILENCE_MS): Server {
  const inTurn = new Turns()
  // Node's own check for a Host has no body.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    inTurn.take(request, response, () => {
      if (lacksHost(request)) refuse(response, 400, NO_HOST, reception)
      else reception.receive(request, response)
    })
  })
  server.on('checkExpectation', (request, response) => {
    inTurn.take(request, response, () => refuse(response, 417, EXPECTATION, reception))
  })
  server.on('clientError', (error, socket) => answerUnreadable(error, socket, reception))
  server.timeout = maxSilenceMs
  return server
}

/** The requests of each connection, in turn. */
class Turns {
  /** The requests of a connection that wait for the one that is being answered. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>()

  /** Answers a request at once, or when the replies to those before it have been sent. */
  take({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    if (socket.destroyed) return // Node has read more requests before it was destroyed

    const waiting = this.#waiting.get(socket)
    if (waiting !== undefined && waiting.length >= MAX_WAITING_REQUESTS) {
      socket.destroy()
      return
    }
    response.once('close', () => this.#next(socket))
    if (waiting === undefined) {
      this.#waiting.set(socket, [])
      answer()
    } else waiting.push(answer)
  }

  #next(socket: Socket): void {
    // After a reply with "Connection: close" Node ends the connection, and the client expects no further one.
    const answer = socket.destroyed || socket.writableEnded ? undefined : this.#waiting.get(socket)?.shift()
    if (answer === undefined) this.#waiting.delete(socket)
    else answer()
  }
}

/** Source: RFC 9112, section 3.2 */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined
}

type Wrong = readonly [code: string, message: string]

const NO_HOST: Wrong = ['BAD_REQUEST', 'the request has no Host header']
const EXPECTATION: Wrong = ['EXPECTATION_FAILED', 'no other expectation than 100-continue is met']

function refuse(response: ServerResponse, status: number, wrong: Wrong, { docsUrl }: RequestHandler): void {
  replyJson(response, status, errorBody(...wrong, docsUrl), [['Connection', 'close']])
}

/** Every answer of this server is written whole, so that nothing is cut in two by this one. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex, { docsUrl }: RequestHandler): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }

  const [status, code, message] = REFUSALS[error.code ?? ''] ?? BAD_REQUEST
  const text = JSON.stringify(errorBody(code, message, docsUrl))
  const lines = [['Connection', 'close'], ...jsonHeaders(text)].map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join('\r\n')
  socket.end(`${head}\r\n\r\n${text}`, () => socket.destroy())
}

type Refusal = readonly [status: number, code: string, message: string]

const BAD_REQUEST: Refusal = [400, 'BAD_REQUEST', 'the request is not valid HTTP']
const REFUSALS: { readonly [code: string]: Refusal | undefined } = {
  HPE_HEADER_OVERFLOW: [431, 'HEADERS_TOO_LARGE', 'the headers must not be longer than 16 KiB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'BODY_TOO_LARGE', 'the extensions of a chunk must not be longer than 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'the request did not come in time'],
}

/** Takes every request of the server: the API's, those for the server's own pages, and what nobody answers. */
export class RequestListener implements RequestHandler {
  docsUrl = ''
  #receive: RequestHandler['receive'] = (_, response) =>
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
    const pages = staticPages(host.api, publicUrl)
    const api = nodeHandler<{ id: string; username: string }, IncomingMessage>(host.api, {
      basePath: API_PATH,
      authenticate: (request) => host.authenticate(request.headers.authorization),
    })
    this.#receive = (request, response) => api(request, response, () => this.#outside(pages, request, response))
  }

  #outside(pages: StaticPages, request: IncomingMessage, response: ServerResponse): void {
    const path = PATH.exec(request.url ?? '')?.[1] ?? ''
    const page = pages.get(path) ?? pages.get(path.replace(/\/$/, ''))
    if (page === undefined) replyJson(response, 404, errorBody('ROUTE_NOT_FOUND', 'not found', this.docsUrl))
    else answerPage(page, { request, response, docsUrl: this.docsUrl })
  }
}

/** Proxies send the whole address, its scheme in any case; one slash too many does no harm. */
const PATH = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i
