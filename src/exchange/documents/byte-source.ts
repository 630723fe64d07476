import { isObject } from '../../schema/arguments.ts'

/**
 * Bytes: a text, an array of bytes, or pieces that are read one after the other, such as the stream of a file or the
 * body of a request. Compression with gzip is recognized.
 */
export type ByteSource = Uint8Array | string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Why the bytes end before the source does. */
export interface ByteFault {
  readonly code: 'gzip' | 'surrogate'
  readonly message: string
}

/** The bytes of a source, decompressed. The generator returns why it ended early, if it did. */
export type Bytes = AsyncGenerator<Uint8Array, ByteFault | undefined, void>

/** What a reading observes of its source. */
export interface ByteObserver {
  readonly signal: AbortSignal | undefined
  /** Called with the length of each piece, before decompression. */
  read(bytes: number): void
}

const TEXT_PIECE = 64 * 1024
const GZIP: readonly number[] = [0x1f, 0x8b]

/** Returns whether a value is a byte source. */
export function isByteSource(value: unknown): value is ByteSource {
  return typeof value === 'string' || isIterable(value)
}

/** Returns whether a value can be iterated, at once or asynchronously. */
export function isIterable(value: unknown): value is object {
  return isObject(value) && (Symbol.asyncIterator in value || Symbol.iterator in value)
}

/**
 * Reads a source in pieces. A piece is read only when the one before has been used, so its memory may be reused.
 *
 * @throws the error of the source; `signal.reason` when the signal aborts; TypeError for a piece that is not bytes
 */
export async function* readBytes(source: ByteSource, observer: ByteObserver): Bytes {
  if (typeof source === 'string' && !source.isWellFormed()) {
    return { code: 'surrogate', message: 'expected well-formed Unicode, without half of a surrogate pair' }
  }
  const pieces = new Pieces(source, observer)
  try {
    const head: Uint8Array[] = []
    let length = 0
    while (length < GZIP.length) {
      const piece = await pieces.next()
      if (piece === undefined) break
      head.push(piece.length < GZIP.length ? piece.slice() : piece) // the next piece may reuse its memory
      length += piece.length
    }
    const first = head.flatMap((piece) => [...piece.subarray(0, GZIP.length)])
    if (GZIP.every((byte, at) => first[at] === byte)) return yield* decompressed(head, pieces)

    yield* head
    for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next()) yield piece
    return undefined
  } finally {
    pieces.close()
  }
}

/** The pieces of a source as they come. */
class Pieces {
  readonly #iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  readonly #observer: ByteObserver
  #isDone = false

  constructor(source: ByteSource, observer: ByteObserver) {
    this.#iterator = iteratorOf(source)
    this.#observer = observer
  }

  /** Returns the next piece that is not empty, or undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { signal } = this.#observer
      signal?.throwIfAborted()
      const step = await beforeAbort(this.#iterator.next(), signal)
      if (step.done === true) {
        this.#isDone = true
        return undefined
      }
      if (!(step.value instanceof Uint8Array)) throw new TypeError('a byte source must yield Uint8Array')
      this.#observer.read(step.value.length)
      const { buffer, byteOffset, length } = step.value
      // The indexOf and subarray of a Buffer cost more than those of other arrays.
      if (length > 0) return new Uint8Array(buffer, byteOffset, length)
    }
  }

  /** Ends the source, unless it ended by itself. Does not wait: a source that is stuck would never return. */
  close(): void {
    if (this.#isDone) return

    this.#isDone = true
    const ended = async (): Promise<unknown> => this.#iterator.return?.()
    ended().catch(() => undefined)
  }
}

function iteratorOf(source: ByteSource): AsyncIterator<Uint8Array> | Iterator<Uint8Array> {
  if (typeof source === 'string') return textPieces(source)
  if (source instanceof Uint8Array) return [source].values()
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
}

function* textPieces(text: string): Generator<Uint8Array, void, void> {
  const encoder = new TextEncoder()
  for (let at = 0; at < text.length; ) {
    let end = at + TEXT_PIECE
    if ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1 // not between the halves of a pair
    yield encoder.encode(text.slice(at, end))
    at = end
  }
}

async function beforeAbort<T>(value: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return value

  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
  })
}

async function* decompressed(head: readonly Uint8Array[], pieces: Pieces): Bytes {
  const { readable, writable } = new DecompressionStream('gzip')
  const reader = readable.getReader()
  const writer = writable.getWriter()
  const failure: { error: unknown }[] = []
  const feed = async (): Promise<void> => {
    for (const piece of head) await writer.write(piece.slice())
    for (;;) {
      const piece = await pieces.next().catch((error: unknown) => {
        failure.push({ error })
        throw error
      })
      if (piece === undefined) return writer.close()
      await writer.write(piece.slice()) // the stream may read it later than the next piece is written to its memory
    }
  }
  const feeding = feed().catch((error: unknown) => writer.abort(error))
  feeding.catch(() => undefined)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      if (value !== undefined) yield value
    }
  } catch {
    for (const { error } of failure) throw error
    return { code: 'gzip', message: 'expected gzip data that is neither damaged nor cut off' }
  } finally {
    reader.cancel().catch(() => undefined)
    writer.abort().catch(() => undefined)
  }
}
