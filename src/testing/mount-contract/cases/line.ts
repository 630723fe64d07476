import type { Socket } from 'node:net'
import type { RawReply } from './raw-reply.ts'
import { readReply } from './raw-reply.ts'

/** One raw connection to a server. Bytes are sent and received unchanged. */
export class Line {
  readonly #socket: Socket
  #incoming: AsyncIterator<Uint8Array> | undefined
  #rest: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => undefined) // reported where the connection is read or written
  }

  /**
   * Fulfils when the system has accepted all bytes. The server has then received whatever does not fit into the buffers
   * between the two.
   */
  send(bytes: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  }

  /**
   * Reads the next response. Nothing is read before this call.
   *
   * @param method - the method of the request: responses to HEAD have no body
   * @throws Error if the connection ends before the response is complete
   */
  async reply(method: string): Promise<RawReply> {
    return readReply(this, method)
  }

  /** Reads the bytes up to the end of a line. */
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

  /** Reads a number of bytes. */
  async bytes(size: number): Promise<Buffer> {
    while (this.#rest.length < size) this.#rest = Buffer.concat([this.#rest, await this.#more()])
    const bytes = this.#rest.subarray(0, size)
    this.#rest = this.#rest.subarray(size)
    return bytes
  }

  /** Reads all bytes up to the end of the connection. */
  async remainder(): Promise<Buffer> {
    const chunks = [this.#rest]
    for (let next = await this.#next(); next.done !== true; next = await this.#next()) {
      chunks.push(Buffer.from(next.value))
    }
    this.#rest = Buffer.alloc(0)
    return Buffer.concat(chunks)
  }

  /** Destroys the connection without ending it properly. */
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
 * Connects to a server. Loads `node:net` only then, because tests of business rules do not need it.
 *
 * @throws TypeError if the origin does not use plain HTTP
 */
export async function dial(origin: string): Promise<Line> {
  const { protocol, hostname, port } = new URL(origin)
  if (protocol !== 'http:')
    throw new TypeError(`origin must be http://host:port, as the application listens: ${origin}`)

  const { connect } = await import('node:net')
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) })
  socket.pause() // the system buffers incoming bytes until they are read
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return new Line(socket)
}
