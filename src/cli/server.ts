import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { nodeHandler } from '../http-adapters/node.ts'
import type { Logger } from '../index.ts'
import { isForgeError } from '../index.ts'
import type { Standalone } from '../standalone/standalone.ts'
import { ownPages } from './own-pages.ts'
import { API_PATH } from './public-url.ts'

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
/** How long it accepts connections for that reason, in milliseconds, if clients keep opening them. */
const MAX_QUIET_WAIT_MS = 2000
/** How often a server that stops looks at its connections, in milliseconds. */
const POLL_MS = 20

type Answer = (request: IncomingMessage, response: ServerResponse) => void
type Host = Pick<Standalone, 'api' | 'authenticate' | 'checkDatabase'>

/** The HTTP server of `forgelet serve`: the API, the probes, and the server's own pages. */
export class ForgeServer {
  readonly http: Server
  /** The URL of the API page, for error bodies; `""` if not known yet. */
  docsUrl = ''
  #phase: 'starting' | 'serving' | 'shutting down' = 'starting'
  #answer: Answer = (request, response) => this.#refuse(request, response, 503, 'STORAGE_UNAVAILABLE', 'starting')
  #checkDatabase: () => Promise<string | undefined> = async () => undefined
  readonly #open = new Set<Socket>()
  /** The responses that each connection waits for, in order. */
  readonly #inProgress = new Map<Socket, readonly ServerResponse[]>()
  #openedAt = Number.NEGATIVE_INFINITY

  /** @param maxSilenceMs - the inactivity after which a connection is closed, in milliseconds */
  constructor(maxSilenceMs: number = MAX_SILENCE_MS) {
    this.http = createServer((request, response) => this.#receive(request, response))
    this.http.timeout = maxSilenceMs
    this.http.on('connection', (socket) => {
      this.#openedAt = performance.now()
      this.#open.add(socket)
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#inProgress.delete(socket)
      })
      if (this.#phase === 'shutting down') socket.setTimeout(this.http.keepAliveTimeout)
    })
  }

  /**
   * Starts to pass requests to the host. Until this call, every request receives 503, and its connection closes.
   *
   * @param publicUrl - the URL of the API root for clients, if configured
   */
  open(host: Host, { publicUrl, logger }: { readonly publicUrl?: string | undefined; readonly logger: Logger }): void {
    const pages = ownPages(host.api, publicUrl)
    const api = nodeHandler<{ id: string; username: string }, IncomingMessage>(host.api, {
      basePath: API_PATH,
      authenticate: (request) => host.authenticate(request.headers.authorization),
    })
    const answerOutside: Answer = (request, response) => {
      const path = pathOf(request)
      const page = pages.get(path) ?? pages.get(path.replace(/\/$/, ''))
      if (page === undefined) this.#refuse(request, response, 404, 'ROUTE_NOT_FOUND', 'not found')
      else if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('Allow', 'GET, HEAD')
        this.#refuse(request, response, 405, 'METHOD_NOT_ALLOWED', 'method not allowed')
      } else if (page.etag !== undefined && request.headers['if-none-match']?.includes(page.etag)) {
        response.writeHead(304, { ETag: page.etag }).end()
      } else reply(request, response, page.status, page.bytes, page.headers)
    }
    this.#answer = (request, response) => api(request, response, () => answerOutside(request, response))
    this.#checkDatabase = databaseCheck(host, logger)
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
    const before = [...this.#open]
    for (const socket of before) {
      const response = this.#inProgress.get(socket)?.at(-1)
      if (response === undefined) socket.setTimeout(this.http.keepAliveTimeout)
      else if (!response.headersSent) response.setHeader('Connection', 'close')
    }

    const limit = performance.now() + limitMs
    let quietLimit = Number.POSITIVE_INFINITY
    for (let now = performance.now(); now < Math.min(limit, quietLimit); now = performance.now()) {
      const isClosed = before.every((socket) => socket.destroyed)
      if (isClosed && now - this.#openedAt >= QUIET_MS) break
      if (isClosed) quietLimit = Math.min(quietLimit, now + MAX_QUIET_WAIT_MS)
      await setTimeout(Math.min(POLL_MS, limit - now))
      await setImmediate() // connections that came while the event loop was busy are counted before it
    }
    const ended = new Promise((resolve) => this.http.close(resolve))
    await Promise.race([ended, setTimeout(limit - performance.now(), undefined, { ref: false })])
    const cut = this.#inProgress.size
    for (const socket of this.#open) socket.destroy()
    return cut
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const before = this.#inProgress.get(socket) ?? []
    // Responses to requests that are sent ahead would wait in memory. One may follow a request whose body arrived after the
    // beginning of its response: the client has the response, and this server may not know that the body is over.
    if (before.length > 1 || before.some(({ headersSent, req }) => !headersSent || !req.complete)) socket.destroy()
    if (socket.destroyed) return // Node had already parsed it

    this.#inProgress.set(socket, [...before, response])
    response.once('close', () => this.#done(socket, response))
    if (this.#phase === 'shutting down') response.setHeader('Connection', 'close')
    const path = pathOf(request)
    if (path === '/healthz') replyJson(request, response, 200, { status: 'ok' })
    else if (path === '/readyz') void this.#reportReadiness(request, response)
    else this.#answer(request, response)
  }

  #done(socket: Socket, response: ServerResponse): void {
    const rest = this.#inProgress.get(socket)?.filter((one) => one !== response) ?? []
    if (rest.length > 0) this.#inProgress.set(socket, rest)
    else this.#inProgress.delete(socket)
  }

  async #reportReadiness(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = this.#phase === 'serving' ? await this.#checkDatabase() : undefined
    const obstacle = this.#phase === 'serving' ? found : `the server is ${this.#phase}`
    if (obstacle === undefined) replyJson(request, response, 200, { status: 'ok' })
    else replyJson(request, response, 503, { message: obstacle, url: this.docsUrl, code: 'NOT_READY' })
  }

  #refuse(request: IncomingMessage, response: ServerResponse, status: number, code: string, message: string): void {
    const elsewhere = status === 503 ? { Connection: 'close', 'Retry-After': '1' } : undefined
    replyJson(request, response, status, { message, url: this.docsUrl, code }, elsewhere)
  }
}

/** Returns a check of the database for probes. It returns why the server is not ready, which is logged when it changes. */
function databaseCheck(host: Pick<Host, 'checkDatabase'>, logger: Logger): () => Promise<string | undefined> {
  let reported: string | undefined
  let running: Promise<string | undefined> | undefined
  const check = async (): Promise<string | undefined> => {
    let obstacle: string | undefined
    try {
      await host.checkDatabase()
    } catch (error) {
      obstacle = (isForgeError(error) && OBSTACLES[error.code]) || 'the database cannot be used'
      if (reported !== obstacle) logger.warn(`not ready: ${obstacle}`, { error })
    }
    running = undefined
    reported = obstacle
    return obstacle
  }
  return () => {
    running ??= check() // probes that arrive meanwhile wait for the same
    return running
  }
}

/** What a stranger may read. The message of the error goes to the log. */
const OBSTACLES: { readonly [code: string]: string | undefined } = {
  STORAGE_UNAVAILABLE: 'the database is unavailable',
  STORAGE_BUSY: 'the database is busy',
  SCHEMA_OUTDATED: 'the tables of the database are missing or outdated',
  SCHEMA_TOO_NEW: 'the tables of the database are for newer releases only',
}

function replyJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: object,
  headers?: OutgoingHttpHeaders,
): void {
  const type = 'application/json;charset=utf-8'
  reply(request, response, status, Buffer.from(JSON.stringify(body)), { 'Content-Type': type, ...headers })
}

/**
 * Sends a response. It ends when the request has ended: a connection that is closed while bytes arrive is reset, and the
 * client would not see the response.
 */
function reply(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  bytes: Buffer,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    'Content-Length': bytes.length,
    'Cache-Control': 'max-age=0, private, must-revalidate',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
  response.write(bytes)
  request.resume().once('end', () => response.end())
}

/** Returns the path of a request target. Proxies send an absolute URL, with the scheme in any case. */
function pathOf({ url = '' }: IncomingMessage): string {
  return /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(url)?.[1] ?? ''
}
