/** Ends bytes that are not sent to the end. Never throws, and an error of `return` is ignored: the response is over. */
export function cancel(bytes: AsyncIterator<Uint8Array>): void {
  const ended = async (): Promise<unknown> => bytes.return?.()
  ended().catch(() => undefined)
}

/**
 * Waits for the first piece of bytes, and returns all of them. An error before the first piece is thrown here, where it
 * can still become an error response.
 */
export async function started(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = bytes[Symbol.asyncIterator]()
  return new StartedBytes(await iterator.next(), iterator)
}

/** Bytes whose first piece has been produced. Unlike a generator, `return` reaches them before the first `next`. */
class StartedBytes implements AsyncIterableIterator<Uint8Array> {
  readonly #rest: AsyncIterator<Uint8Array>
  #first: IteratorResult<Uint8Array> | undefined

  constructor(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>) {
    this.#first = first
    this.#rest = rest
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#rest.next()
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#first = undefined
    await this.#rest.return?.()
    return { done: true, value: undefined }
  }
}
