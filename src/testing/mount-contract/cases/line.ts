import type { Socket } from 'node:net'
import type { RawReply } from './raw-reply.ts'
import { readReply } from './raw-reply.ts'

/** One connection to a server, on which nothing is put right: bytes go out and come in as they are. */
export class Line {
  readonly #socket: Socket
  #incoming: AsyncIterator<Uint8Array> | undefined
  #rest: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => undefined) // told where it is read or written
  }

  /** Fulfils when all of it is handed to the system: the server has taken in what does not fit between the two. */
  send(bytes: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  }

  /**
   * The next reply; nothing is read before.
   *
   * @param method - what it answers: replies to HEAD have no body
   * @throws Error when the connection ends before
   */
  async reply(method: string): Promise<RawReply> {
    return readReply(this, method)
  }

  /** The next bytes, up to the end of a line. */
  async text(): Promise<string> {
    let end = this.#rest.indexOf('\r\n')
    while (end === -1) {
      this.#rest = Buffer.concat([this.#rest, await this.#more()])
      end = this.#rest.indexOf('\r\n')
    }
    const line = this.#rest.toString('latin1', 0, end)
    this.#rest = this.#rest.subarray(end + 2)
    return line
  }

  /** So many bytes. */
  async bytes(size: number): Promise<Buffer> {
    while (this.#rest.length < size) this.#rest = Buffer.concat([this.#rest, await this.#more()])
    const bytes = this.#rest.subarray(0, size)
    this.#rest = this.#rest.subarray(size)
    return bytes
  }

  /** Everything up to the end of the connection. */
  async remainder(): Promise<Buffer> {
    const chunks = [this.#rest]
    for (let next = await this.#next(); next.done !== true; next = await this.#next()) {
      chunks.push(Buffer.from(next.value))
    }
    this.#rest = Buffer.alloc(0)
    return Buffer.concat(chunks)
  }

  /** Goes away without a word. */
  cut(): void {
    this.#socket.destroy()
  }

  async #more(): Promise<Uint8Array> {
    const next = await this.#next()
    if (next.done === true) throw new Error('the server closed the connection')
    return next.value
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#incoming ??= this.#socket[Symbol.asyncIterator]()
    return this.#incoming.next()
  }
}

/**
 * Connects to a server. Only then is `node:net` loaded: who tests rules alone needs none.
 *
 * @throws TypeError for an origin that is not spoken to in plain HTTP
 */
export async function dial(origin: string): Promise<Line> {
  const { protocol, hostname, port } = new URL(origin)
  if (protocol !== 'http:')
    throw new TypeError(`origin must be http://host:port, as the application listens: ${origin}`)

  const { connect } = await import('node:net')
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) })
  socket.pause() // what comes is left with the system until it is asked for
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return new Line(socket)
}
