/** Ends bytes that are not sent to the end. Never throws, and an error of `return` is ignored: the response is over. */
export function cancel(bytes: AsyncIterator<Uint8Array>): void {
  const ended = async (): Promise<unknown> => bytes.return?.()
  ended().catch(() => undefined)
}

/**
 * Waits for the first piece of bytes, and returns all of them. An error before the first piece is thrown here, where it
 * can still become an error response. Unlike a generator, `return` reaches the bytes before the first `next`.
 */
export async function started(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const rest = bytes[Symbol.asyncIterator]()
  let first: IteratorResult<Uint8Array> | undefined = await rest.next()
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const piece = first ?? (await rest.next())
      first = undefined
      return piece
    },
    async return() {
      await rest.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
