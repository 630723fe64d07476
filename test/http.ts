import { once } from 'node:events'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server that is running. */
export interface Running {
  /** Without a slash at its end. */
  readonly origin: string
  stop(): Promise<void>
}

/** Starts to listen on a free port. What a hook starts, the hook must stop. */
export async function listening(server: Server): Promise<Running> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // a server that listens on a port has such an address
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

/** Serves a listener until the test ends. Gives the port. */
export async function serve(listener: RequestListener, options: ServerOptions = {}): Promise<number> {
  const { origin, stop } = await listening(createServer(options, listener))
  onTestFinished(stop)
  return Number(new URL(origin).port)
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const { origin, stop } = await listening(createServer())
  await stop()
  return Number(new URL(origin).port)
}

// HTTP byte by byte: what a client sends is written as it is, and replies are read when the test asks for them.

/** A reply as it was received. Names of headers are in lower case; a header that comes twice is joined with a comma. */
export interface Reply {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** A connection to a server, which ends with the test. Nothing is read before a reply is asked for. */
export class Connection {
  readonly socket: Socket
  #incoming: AsyncIterator<Uint8Array> | undefined
  #received: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => undefined) // seen where the connection is read
  }

  /** Fulfils when the system has accepted the bytes, or the connection is over. */
  send(...bytes: readonly (string | Uint8Array)[]): Promise<void> {
    return new Promise((resolve) => {
      for (const some of bytes) this.socket.write(some, () => resolve())
    })
  }

  /**
   * Reads the next reply, an interim one too.
   *
   * @param method - that of the request: a reply to HEAD has no body
   * @throws Error if the connection ends before
   */
  async reply(method = 'GET'): Promise<Reply> {
    const [first = '', ...lines] = (await this.#until('\r\n\r\n')).split('\r\n')
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1])
    const headers = new Map<string, string>()
    for (const line of lines) {
      const [name = '', value = ''] = line.split(/:\s*(.*)/s)
      const before = headers.get(name.toLowerCase())
      headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`)
    }
    const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304
    return { status, headers, text: hasBody ? (await this.#body(headers)).toString() : '' }
  }

  /** Reads everything until the connection ends, well or not. */
  async rest(): Promise<Buffer> {
    const pieces = [this.#take(this.#received.length)]
    while (await this.#more()) pieces.push(this.#take(this.#received.length))
    return Buffer.concat(pieces)
  }

  async #body(headers: Reply['headers']): Promise<Buffer> {
    const length = headers.get('content-length')
    if (length !== undefined) return this.#bytes(Number(length))
    return headers.get('transfer-encoding') === 'chunked' ? this.#chunks() : this.rest()
  }

  async #chunks(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for (;;) {
      const size = Number.parseInt(await this.#until('\r\n'), 16)
      chunks.push(await this.#bytes(size))
      await this.#until('\r\n')
      if (size === 0) return Buffer.concat(chunks)
    }
  }

  async #until(end: string): Promise<string> {
    while (!this.#received.includes(end)) if (!(await this.#more())) throw this.#isOver()
    const text = this.#take(this.#received.indexOf(end)).toString('latin1')
    this.#take(end.length)
    return text
  }

  async #bytes(size: number): Promise<Buffer> {
    while (this.#received.length < size) if (!(await this.#more())) throw this.#isOver()
    return this.#take(size)
  }

  #take(size: number): Buffer {
    const bytes = this.#received.subarray(0, size)
    this.#received = this.#received.subarray(size)
    return bytes
  }

  async #more(): Promise<boolean> {
    this.#incoming ??= this.socket[Symbol.asyncIterator]()
    const next = await this.#incoming.next().catch(() => undefined)
    if (next === undefined || next.done === true) return false

    this.#received = Buffer.concat([this.#received, next.value])
    return true
  }

  #isOver(): Error {
    return new Error(`the connection ended after ${JSON.stringify(this.#received.toString('latin1', 0, 200))}`)
  }
}

/**
 * Connects to a server.
 *
 * @param to - its port on this machine, or an address of it
 */
export async function dial(to: number | string | URL): Promise<Connection> {
  const { hostname, port } = new URL(typeof to === 'number' ? `http://127.0.0.1:${to}` : to)
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, '')).pause()
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return new Connection(socket)
}

/** Sends bytes over one connection and gives everything that came until the server closed it: something must ask for that. */
export async function exchange(to: number | string | URL, ...bytes: readonly (string | Uint8Array)[]): Promise<string> {
  const connection = await dial(to)
  void connection.send(...bytes)
  return (await connection.rest()).toString()
}

/** A request as text. A header of the same name as one that is usual replaces it; a body has its length. */
export function ask(first: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ Host: 'git.example.com', ...length, ...headers })
  return `${first} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** The statuses of the replies in what a server sent. */
export function statuses(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
}
