import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { nodeHandler } from '../http-adapters/node.ts'
import type { Logger } from '../index.ts'
import type { Standalone } from '../standalone/standalone.ts'
import { Connections } from './connections.ts'
import { Health } from './health.ts'
import type { HeaderLines } from './json-reply.ts'
import { errorBody, jsonHeaders, replyEarly, replyJson } from './json-reply.ts'
import { API_PATH } from './public-url.ts'
import type { StaticPages } from './static-page.ts'
import { answerPage, staticPages } from './static-page.ts'

/** Handles the requests of the server. */
export interface RequestHandler {
  /** Handles one request. */
  receive(request: IncomingMessage, response: ServerResponse): void
  /** The URL of the API page, for error bodies; `""` if not known yet. */
  readonly docsUrl: string
}

/** An HTTP server, and its connections. */
export interface JsonServer {
  readonly server: Server
  readonly connections: Connections
}

/**
 * How long a connection may be inactive in both directions before the server closes it, in milliseconds. A client that
 * does not read its response, or does not finish its request, must not keep the response in memory indefinitely.
 */
const MAX_SILENCE_MS = 30_000
/**
 * Creates an HTTP server that responds in JSON, even to input that Node rejects before it becomes a request, because
 * clients of the API parse every body. The server handles the pipelined requests of a connection one after another. It
 * starts a request when the response to the previous one has been sent. The server thus holds at most one response for
 * each connection, even if the client does not read.
 *
 * @param maxSilenceMs - the inactivity after which a connection is closed, in milliseconds
 */
export function createJsonServer(handler: RequestHandler, maxSilenceMs: number = MAX_SILENCE_MS): JsonServer {
  // Node's own check for the Host header responds without a body.
  const server = createServer({ requireHostHeader: false })
  const connections = new Connections(server)
  server.on('request', (request, response) => {
    connections.take(request, response, () => {
      if (lacksHost(request)) refuse(response, 400, NO_HOST, handler)
      else handler.receive(request, response)
    })
  })
  server.on('checkExpectation', (request, response) => {
    connections.take(request, response, () => refuse(response, 417, EXPECTATION, handler))
  })
  server.on('clientError', (error, socket) => answerUnreadable(error, socket, handler))
  server.timeout = maxSilenceMs
  return { server, connections }
}

/** Source: RFC 9112, section 3.2 */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined
}

type Wrong = readonly [code: string, message: string]

const NO_HOST: Wrong = ['BAD_REQUEST', 'the request has no Host header']
const EXPECTATION: Wrong = ['EXPECTATION_FAILED', 'the only supported expectation is 100-continue']

function refuse(response: ServerResponse, status: number, wrong: Wrong, { docsUrl }: RequestHandler): void {
  replyJson(response, status, errorBody(...wrong, docsUrl), [['Connection', 'close']])
}

/**
 * Responds to input that Node cannot parse. The server writes every response in a single step, so this response cannot
 * interrupt another one.
 */
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
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'the request did not arrive in time'],
}

/**
 * Handles every request of the server: requests to the API, requests for the server's own pages, the probes, and requests
 * for unknown paths.
 */
export class RequestListener implements RequestHandler {
  docsUrl = ''
  readonly #health = new Health()
  #answer: RequestHandler['receive'] = (request, response) =>
    replyEarly(request, response, 503, errorBody('STORAGE_UNAVAILABLE', 'starting', this.docsUrl), ELSEWHERE)

  receive(request: IncomingMessage, response: ServerResponse): void {
    const path = PATH.exec(request.url ?? '')?.[1] ?? ''
    if (!this.#health.answer(path, { request, response, docsUrl: this.docsUrl })) this.#answer(request, response)
  }

  /**
   * Starts to pass requests to the host. Until this call, every request receives 503, and its connection closes.
   *
   * @param publicUrl - the URL of the API root for clients, if configured
   */
  open(host: Host, { publicUrl, logger }: { readonly publicUrl?: string | undefined; readonly logger: Logger }): void {
    const pages = staticPages(host.api, publicUrl)
    const api = nodeHandler<{ id: string; username: string }, IncomingMessage>(host.api, {
      basePath: API_PATH,
      authenticate: (request) => host.authenticate(request.headers.authorization),
    })
    this.#answer = (request, response) => api(request, response, () => this.#outside(pages, request, response))
    this.#health.serves(host, logger)
  }

  /** Refuses every request that begins from now on, except probes. The connections close after the responses. */
  shutDown(): void {
    this.#health.shutsDown()
    this.#answer = (request, response) => {
      const body = errorBody('SHUTTING_DOWN', 'the server is shutting down: send the request again', this.docsUrl)
      replyEarly(request, response, 503, body, ELSEWHERE)
    }
  }

  #outside(pages: StaticPages, request: IncomingMessage, response: ServerResponse): void {
    const path = PATH.exec(request.url ?? '')?.[1] ?? ''
    const page = pages.get(path) ?? pages.get(path.replace(/\/$/, ''))
    if (page === undefined) replyJson(response, 404, errorBody('ROUTE_NOT_FOUND', 'not found', this.docsUrl))
    else answerPage(page, { request, response, docsUrl: this.docsUrl })
  }
}

type Host = Pick<Standalone, 'api' | 'authenticate' | 'checkDatabase'>

/** The client should repeat the request on another connection, which may lead to another server. */
const ELSEWHERE: HeaderLines = [
  ['Connection', 'close'],
  ['Retry-After', '1'],
]

/** Matches the path of a request target. Proxies send an absolute URL, with the scheme in any case. */
const PATH = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i
