import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * The maximum number of requests that a client may send ahead on one connection. One more request closes the
 * connection.
 */
export const MAX_WAITING_REQUESTS = 32

/**
 * While the server shuts down, it accepts connections until none was opened for this time, in milliseconds: the requests
 * on them are refused, and a load balancer learns of it. The system would reset a connection that is opened just before
 * the server stops listening, and its client could not know whether the request was handled.
 */
const QUIET_MS = 250
/** How long the server accepts connections for that reason, in milliseconds, if clients keep opening them. */
const MAX_QUIET_WAIT_MS = 2000

/** The request of a connection that is being handled, and those that wait for it. */
interface Turn {
  readonly response: ServerResponse
  readonly answer: () => void
}

/**
 * The connections of a server. The requests of each are handled one after another. When the server shuts down, every
 * connection is closed where its client expects it: after a response with `Connection: close`, or when it was idle for
 * as long as the server announced in `Keep-Alive`.
 */
export class Connections {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** The requests of each connection, the current one first. */
  readonly #turns = new Map<Socket, Turn[]>()
  #newest = Number.NEGATIVE_INFINITY
  #isClosing = false

  /** @param server - its connections are counted from now on */
  constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => this.#opened(socket))
  }

  /** Handles a request immediately, or after the responses to the previous requests have been sent. */
  take({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    if (socket.destroyed) return // Node had already parsed more requests when the socket was destroyed

    const turns = this.#turns.get(socket)
    if (turns !== undefined && turns.length > MAX_WAITING_REQUESTS) {
      socket.destroy()
      return
    }
    response.once('close', () => this.#next(socket))
    const turn = { response, answer }
    if (turns === undefined) {
      this.#turns.set(socket, [turn])
      this.#begin(turn)
    } else turns.push(turn)
  }

  /**
   * Closes all connections and stops listening. The requests that are being handled may finish. Those that begin later
   * are handled too, each as the last of its connection: the caller refuses them.
   *
   * @param limitMs - when the connections that are still open are destroyed, in milliseconds
   * @returns how many requests were cut off by that
   */
  async close(limitMs: number): Promise<number> {
    this.#isClosing = true
    let cut = 0
    const limit = setTimeout(() => {
      cut = this.#turns.size
      this.#server.close()
      for (const socket of this.#open) socket.destroy()
    }, limitMs)

    const before = [...this.#open]
    for (const socket of before) this.#closeWhenDone(socket)
    await Promise.all(before.map(closed))
    await this.#quiet()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    clearTimeout(limit)
    return cut
  }

  #opened(socket: Socket): void {
    this.#newest = performance.now()
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#turns.delete(socket)
    })
    if (this.#isClosing) this.#closeWhenDone(socket)
  }

  #closeWhenDone(socket: Socket): void {
    const turns = this.#turns.get(socket)
    if (turns === undefined) {
      socket.setTimeout(this.#server.keepAliveTimeout) // one that is idle; Node destroys it then
      return
    }
    const [current, next] = turns
    // The first request that waits is refused, and its response closes the connection.
    if (next === undefined && current?.response.headersSent === false) {
      current.response.setHeader('Connection', 'close')
    }
  }

  async #quiet(): Promise<void> {
    const began = performance.now()
    for (;;) {
      // Connections that arrived while the event loop was busy are counted between these two callbacks.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      const now = performance.now()
      const wait = Math.min(this.#newest + QUIET_MS, began + MAX_QUIET_WAIT_MS) - now
      if (wait <= 0 || !this.#server.listening) return
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  #next(socket: Socket): void {
    const turns = this.#turns.get(socket)
    turns?.shift()
    // After a response with "Connection: close", Node ends the connection, and the client expects no further response.
    const next = socket.destroyed || socket.writableEnded ? undefined : turns?.[0]
    if (next === undefined) this.#turns.delete(socket)
    else this.#begin(next)
  }

  #begin({ response, answer }: Turn): void {
    if (this.#isClosing) response.setHeader('Connection', 'close')
    answer()
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve()
    else socket.once('close', () => resolve())
  })
}
