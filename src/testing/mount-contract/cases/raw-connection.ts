import type { Socket } from 'node:net'

/** One raw connection to a server. Bytes are sent and received unchanged. */
export class RawConnection {
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
  send(bytes: string | Uint8Array): Promise<void> {
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
  destroy(): void {
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
export async function connect(origin: string): Promise<RawConnection> {
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
  return new RawConnection(socket)
}

/** The source that a response is read from. */
interface ReplySource {
  /** Reads the next line, without its line ending. */
  text(): Promise<string>
  bytes(size: number): Promise<Uint8Array>
  remainder(): Promise<Uint8Array>
}

/** A response as it was received. */
export interface RawReply {
  readonly status: number
  /** The header lines in order, with names in lower case. Repeated headers are not merged. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/**
 * Reads one response. Interim responses (100, 103) are skipped.
 *
 * @throws Error if the bytes are not a valid response
 */
async function readReply(source: ReplySource, method: string): Promise<RawReply> {
  const line = await source.text()
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1])
  if (Number.isNaN(status))
    throw new Error(`the bytes received are not an HTTP response: ${JSON.stringify(line.slice(0, 80))}`)

  const headers = await readHeaders(source)
  if (status < 200) return readReply(source, method)
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304
  return { status, headers, body: hasBody ? new TextDecoder().decode(await readBody(source, headers)) : '' }
}

async function readHeaders(source: ReplySource): Promise<RawReply['headers']> {
  const headers: (readonly [string, string])[] = []
  for (let line = await source.text(); line !== ''; line = await source.text()) {
    const colon = line.indexOf(':')
    headers.push([line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()])
  }
  return headers
}

async function readBody(source: ReplySource, headers: RawReply['headers']): Promise<Uint8Array> {
  const sent = new Map(headers)
  if (sent.get('transfer-encoding')?.toLowerCase() === 'chunked') return readChunks(source)

  const length = sent.get('content-length')
  return length === undefined ? source.remainder() : source.bytes(Number(length))
}

async function readChunks(source: ReplySource): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let size = await readSize(source); size > 0; size = await readSize(source)) {
    chunks.push(await source.bytes(size))
    await source.text()
  }
  await readHeaders(source) // trailers
  return Buffer.concat(chunks)
}

async function readSize(source: ReplySource): Promise<number> {
  return Number.parseInt(await source.text(), 16)
}
