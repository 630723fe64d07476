import { cancel } from '../routes/byte-stream.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/**
 * Writes bytes to a response whose headers are set, one piece at a time: the next piece is produced when the client has
 * taken the one before. Other requests run between two pieces, even if the bytes are produced without waiting. When the
 * client disconnects, the bytes are ended.
 *
 * @param clientGone - called when the client disconnects before the end
 * @throws the error of the bytes, unless the client has disconnected
 */
export async function writeStream(
  request: NodeRequest,
  response: NodeResponse,
  bytes: AsyncIterator<Uint8Array>,
  clientGone: () => void,
): Promise<'written' | 'client gone'> {
  const client = new ReadingClient(request, response, () => {
    clientGone()
    cancel(bytes)
  })
  try {
    for (;;) {
      const next = await bytes.next()
      if (client.isGone) return 'client gone'
      if (next.done === true) return 'written'
      if (response.write?.(next.value) === false) await client.ready()
      await nextTurn()
    }
  } catch (error) {
    if (client.isGone) return 'client gone'
    throw error
  } finally {
    client.release()
  }
}

/** The client that reads a response. */
class ReadingClient {
  isGone = false
  #isReleased = false
  #wake: () => void = () => undefined
  readonly #leave: () => void

  constructor(request: NodeRequest, response: NodeResponse, leave: () => void) {
    this.#leave = leave
    response.on('drain', () => this.#wake())
    for (const event of ['close', 'error']) response.on(event, () => this.#gone())
    request.on('aborted', () => this.#gone()) // in HTTP/2, a response with unsent bytes does not close
    if (response.destroyed === true) this.#gone()
  }

  /** Fulfils when the client has taken what was written, or has disconnected. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      if (this.isGone) resolve()
    })
  }

  /** From now on, the end of the connection is the end of the response. */
  release(): void {
    this.#isReleased = true
  }

  #gone(): void {
    if (this.isGone || this.#isReleased) return

    this.isGone = true
    this.#leave()
    this.#wake()
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/**
 * Ends a response so that no client takes it for a complete one. In HTTP/1.0 a response ends where the connection ends,
 * so the connection must be reset: proxies often speak HTTP/1.0 to servers. In HTTP/2 the stream must end with an error.
 */
export function cutResponse({ httpVersion }: NodeRequest, response: NodeResponse): void {
  if (httpVersion === '1.0') reset(response)
  if (httpVersion?.startsWith('2') === true) response.destroy?.(new Error('the response is not complete'))
  else response.destroy?.()
}

function reset({ socket }: NodeResponse): void {
  try {
    socket?.resetAndDestroy?.()
  } catch {
    // TLS cannot be reset.
  }
}
