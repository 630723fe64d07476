import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Logger } from 'forgelet'
import { isForgeError } from 'forgelet'
import { nodeHandler } from 'forgelet/node'
import type { Standalone } from '../standalone/standalone.ts'
import { CommandError } from './command.ts'
import type { OwnPage } from './pages.ts'
import { API_PATH, jsonPage } from './pages.ts'

/**
 * How long a connection may be inactive in both directions before the server closes it, in milliseconds. A client that
 * does not read its response, or does not finish its request, must not keep it in memory.
 */
const MAX_SILENCE_MS = 30_000
/**
 * A server that stops accepts connections until none was opened for this time, in milliseconds: their requests are
 * refused, and a load balancer learns of it. The system would reset a connection that is opened just before the server
 * stops listening, and its client could not know whether the request was handled.
 */
const QUIET_MS = 250
/** How often a server that stops looks at its connections, in milliseconds. */
const POLL_MS = 20

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** The HTTP server of `forgelet serve`: the API, the probes, and the server's own pages. */
export class ForgeServer {
  readonly http: Server
  /** The URL of the API page, for error bodies; `""` if not known yet. */
  docsUrl = ''
  /** The origins whose pages may read responses. */
  origins: ReadonlySet<string> = new Set()
  #phase: 'starting' | 'serving' | 'shutting down' = 'starting'
  #answer: Answer = (request, response) => this.#refuse(request, response, 503, 'STORAGE_UNAVAILABLE', 'starting')
  #databaseFault = async (): Promise<string | undefined> => undefined
  /** The open connections, each with the last response that it waits for. */
  readonly #connections = new Map<Socket, ServerResponse | undefined>()
  #connectedAt = Number.NEGATIVE_INFINITY

  constructor() {
    this.http = createServer((request, response) => this.#receive(request, response))
    this.http.timeout = MAX_SILENCE_MS
    this.http.on('connection', (socket) => {
      this.#connectedAt = performance.now()
      this.#connections.set(socket, undefined)
      socket.once('close', () => this.#connections.delete(socket))
    })
  }

  /**
   * Starts to pass requests to the host. Until this call, every request receives 503, and its connection closes.
   *
   * @param pages - what the server itself sends, outside the API
   */
  open(
    host: Pick<Standalone, 'api' | 'authenticate' | 'checkDatabase'>,
    pages: ReadonlyMap<string, OwnPage>,
    logger: Logger,
  ): void {
    const api = nodeHandler<{ id: string; username: string }, IncomingMessage>(host.api, {
      basePath: API_PATH,
      authenticate: (request) => host.authenticate(request.headers.authorization),
    })
    const answerOutside: Answer = (request, response) => {
      const page = request.method === 'GET' || request.method === 'HEAD' ? pages.get(pathOf(request)) : undefined
      if (page !== undefined) reply(request, response, page)
      else this.#refuse(request, response, 404, 'ROUTE_NOT_FOUND', 'not found')
    }
    this.#answer = (request, response) => api(request, response, () => answerOutside(request, response))
    this.#databaseFault = async () => {
      try {
        await host.checkDatabase()
        return undefined
      } catch (error) {
        logger.warn('not ready', { error })
        // Anyone may read this. The message of the error goes to the log.
        return `the database cannot be used${isForgeError(error) ? `: ${error.code}` : ''}`
      }
    }
    this.#phase = 'serving'
  }

  /**
   * Stops. Requests in progress may finish. Those that begin later are refused, each as the last of its connection,
   * and nothing of them is done. An idle connection stays open for as long as its client was told in `Keep-Alive`.
   *
   * @param limitMs - when the connections that are still open are destroyed, in milliseconds
   * @returns how many requests were cut off by that
   */
  async close(limitMs: number): Promise<number> {
    this.#phase = 'shutting down'
    const message = 'the server is shutting down: send the request again'
    this.#answer = (request, response) => this.#refuse(request, response, 503, 'SHUTTING_DOWN', message)
    for (const [socket, response] of this.#connections) {
      if (response === undefined) socket.setTimeout(this.http.keepAliveTimeout)
      else if (!response.headersSent) response.setHeader('Connection', 'close')
    }

    const limit = performance.now() + limitMs
    for (let now = performance.now(); now < limit; now = performance.now()) {
      if (this.#connections.size === 0 && now - this.#connectedAt >= QUIET_MS) break
      await setTimeout(Math.min(POLL_MS, limit - now))
      await setImmediate() // connections that came while the event loop was busy are counted before it
    }
    this.http.close()
    const cut = [...this.#connections.values()].filter((response) => response !== undefined)
    for (const socket of this.#connections.keys()) socket.destroy()
    return cut.length
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    this.#connections.set(socket, response)
    response.once('close', () => {
      if (this.#connections.get(socket) === response) this.#connections.set(socket, undefined)
    })
    if (this.#phase !== 'serving') response.setHeader('Connection', 'close')
    if (allowOrigins(this.origins, request, response)) return
    const path = pathOf(request)
    if (path === '/healthz') reply(request, response, HEALTHY)
    else if (path === '/readyz') void this.#reportReadiness(request, response)
    else this.#answer(request, response)
  }

  async #reportReadiness(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const obstacle = this.#phase === 'serving' ? await this.#databaseFault() : `the server is ${this.#phase}`
    if (obstacle === undefined) reply(request, response, HEALTHY)
    else this.#refuse(request, response, 503, 'NOT_READY', obstacle)
  }

  #refuse(request: IncomingMessage, response: ServerResponse, status: number, code: string, message: string): void {
    if (status === 503) response.setHeader('Retry-After', '1')
    reply(request, response, jsonPage({ message, url: this.docsUrl, code }, status))
  }
}

const HEALTHY = jsonPage({ status: 'ok' })

/**
 * Sends a page, unless the client has it. The response ends when the request has ended: a connection that is closed while
 * bytes arrive is reset, and the client would not see the response.
 */
function reply(request: IncomingMessage, response: ServerResponse, { status, headers, bytes }: OwnPage): void {
  const { ETag, ...others } = headers
  const tag = status === 200 ? { ETag } : {} // an error has none, as those of the API
  const seen = request.headers['if-none-match']
  if (status === 200 && (seen === '*' || seen?.includes(ETag))) response.writeHead(304, tag)
  else response.writeHead(status, { ...others, ...tag, 'Content-Length': bytes.length }).write(bytes)
  request.resume().once('end', () => response.end())
}

/** Returns the path of a request target. Proxies send an absolute URL, with the scheme in any case. */
function pathOf({ url = '' }: IncomingMessage): string {
  return /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(url)?.[1] ?? ''
}

/** What Gitea allows by default, and the headers with which a client asks whether a key has changed. */
const CORS_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const CORS_HEADERS = 'Authorization, Content-Type, If-None-Match, User-Agent, X-Gitea-OTP'
const CORS_MAX_AGE_S = '600'

/** Adds a value of `--cors` to those before it. @throws CommandError (wrong usage) if it is not an origin */
export function addOrigin(text: string, others: readonly string[] = []): readonly string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text) return [...others, text]
  throw new CommandError(2, '--cors: give an origin in lower case, without a path, such as https://app.example.com')
}

/**
 * Allows the pages of some origins to read a response. Answers the request itself if it is the preflight of one of them,
 * and returns whether it did. Cookies and other credentials of the browser are not allowed.
 */
function allowOrigins(
  origins: ReadonlySet<string>,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (origins.size === 0) return false
  response.setHeader('Vary', 'Origin')
  const { origin = '' } = headers
  if (!origins.has(origin)) return false

  response.setHeader('Access-Control-Allow-Origin', origin)
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
  const allowed = {
    'Access-Control-Allow-Methods': CORS_METHODS,
    'Access-Control-Allow-Headers': CORS_HEADERS,
    'Access-Control-Max-Age': CORS_MAX_AGE_S,
  }
  response.writeHead(204, allowed).end()
  return true
}
