import { endOf, iteratorOf } from '../../schema/iteration.ts'
import { isBytes } from '../../schema/realms.ts'
import { beforeAbort } from '../../schema/sync-or-async.ts'
import { HALF_PAIR, Unreadable } from './source-record.ts'

/**
 * Bytes: a text, an array of bytes, or pieces that are read one after the other, such as the stream of a file or the
 * body of a request. Compression with gzip is recognized, and UTF-16 by its mark.
 */
export type ByteSource = Uint8Array | string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Bytes, or a function that opens them. It is called up to three times if an issue may occur several times, so that the latest one counts. */
export type OpenableBytes = ByteSource | (() => ByteSource)

/** What a reading observes of its source. */
interface ByteObserver {
  readonly signal?: AbortSignal | undefined
  /** Called with the length of each piece, before decompression. */
  onRead?(bytes: number): void
  /** Called with the length of each piece, after decompression. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

type Bytes = AsyncGenerator<Uint8Array, void, void>

/** The first byte of gzip. No text of JSON or YAML begins with it. */
const GZIP = 0x1f
/** The mark of UTF-8 is longer than every other beginning that is looked for. */
const MARK_BYTES = 3

/**
 * Reads a source in pieces of UTF-8: decompresses it, and decodes UTF-16. A piece is read only when the one before has been used, so its memory may
 * be reused.
 *
 * @throws the error of the source; `signal.reason` when the signal aborts; TypeError for a piece that is not bytes;
 * Unreadable
 */
export async function* readBytes(bytes: OpenableBytes, observer: ByteObserver): Bytes {
  const source = typeof bytes === 'function' ? bytes() : bytes
  if (typeof source === 'string' && !source.isWellFormed()) {
    throw new Unreadable(HALF_PAIR.code, HALF_PAIR.message)
  }
  const [given, pieces] = await begun(piecesOf(source, observer))
  const [text, plain] = given[0] === GZIP ? await begun(decompressed(pieces)) : [given, pieces]
  const recode = recoderOf(text)
  for await (const piece of plain) {
    observer.onBytes?.(piece.length)
    yield recode?.(piece) ?? piece
  }
  if (recode !== undefined) yield recode()
}

/** Reads the first bytes, if there are so many. Returns what was read, and all pieces: the first has these bytes. */
export async function begun(
  pieces: Bytes,
  bytes: number = MARK_BYTES,
): Promise<readonly [beginning: Uint8Array, all: Bytes]> {
  const beginning = new ByteBuffer()
  while (beginning.length < bytes) {
    const { value } = await pieces.next()
    if (value === undefined) break
    beginning.append(value)
  }
  const first = beginning.take()
  return [first, joined(first, pieces)]
}

async function* joined(first: Uint8Array, rest: Bytes): Bytes {
  try {
    if (first.length > 0) yield first
    yield* rest
  } finally {
    await rest.return()
  }
}

/** The marks of UTF-16. No UTF-8 has these bytes. */
const ENCODINGS: { readonly [mark: string]: string } = { '255 254': 'utf-16le', '254 255': 'utf-16be' }

/**
 * Returns a function that makes UTF-8 of pieces of UTF-16, and of their end, if they begin with its mark, as those that the `>`
 * of Windows PowerShell 5.1 writes do.
 */
function recoderOf([first, second]: Uint8Array): ((piece?: Uint8Array) => Uint8Array) | undefined {
  const encoding = ENCODINGS[`${first} ${second}`]
  if (encoding === undefined) return undefined

  const decoder = new TextDecoder(encoding, { fatal: true })
  const encoder = new TextEncoder()
  return (piece) => {
    try {
      return encoder.encode(decoder.decode(piece, { stream: piece !== undefined }))
    } catch {
      throw new Unreadable('utf16', 'expected UTF-16, because its mark is at the beginning')
    }
  }
}

/** Yields the pieces of a source that are not empty, and ends it. */
export async function* piecesOf(source: ByteSource, observer: ByteObserver): Bytes {
  const { signal } = observer
  const whole = typeof source === 'string' ? new TextEncoder().encode(source) : source
  const iterator = iteratorOf(isBytes(whole) ? [whole] : whole)
  let isDone = false
  try {
    for (;;) {
      signal?.throwIfAborted()
      const next = Promise.resolve(iterator.next())
      const step = await (signal === undefined ? next : beforeAbort(signal, next))
      isDone = step.done === true
      if (step.done === true) return
      if (!isBytes(step.value)) throw new TypeError('a byte source must yield Uint8Array')
      const { buffer, byteOffset, length } = step.value
      observer.onRead?.(length)
      // The indexOf and subarray of a Buffer cost more than those of other arrays.
      if (length > 0) yield new Uint8Array(buffer, byteOffset, length)
    }
  } finally {
    if (!isDone) endOf(iterator)
  }
}

/** How many compressed bytes are passed on at once: 1 KiB of gzip can hold 1 MiB of text. */
const COMPRESSED_BYTES = 4 * 1024

/**
 * Decompresses gzip. More input is passed on only when all output of the earlier input has been read: by themselves, the streams of
 * Node 20 and 22 read ahead until they hold 16,384 pieces of output.
 */
async function* decompressed(pieces: Bytes): Bytes {
  const { readable, writable } = new DecompressionStream('gzip')
  const [reader, writer] = [readable.getReader(), writable.getWriter()]
  const compressed = slicesOf(pieces)
  let given = Promise.resolve()
  try {
    for (let read = reader.read(); ; ) {
      const step = await Promise.race([read, given.then(() => undefined)]).catch(refuseGzip)
      if (step === undefined) {
        const { done, value } = await compressed.next()
        // After the last input, only output is awaited.
        given = done === true ? writer.close().then(() => new Promise<never>(() => undefined)) : writer.write(value)
      } else if (step.done) return
      else {
        yield step.value
        read = reader.read()
      }
    }
  } finally {
    // None is awaited: the source may be stuck.
    reader.cancel().catch(() => undefined)
    given.catch(() => undefined)
    pieces.return().catch(() => undefined)
  }
}

async function* slicesOf(pieces: Bytes): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += COMPRESSED_BYTES) yield piece.slice(at, at + COMPRESSED_BYTES)
  }
}

function refuseGzip(): never {
  // Not every runtime reads a second member, such as "cat a.gz b.gz" writes.
  const message = 'expected gzip that has one member, and is neither damaged nor cut off: decompress it with gunzip'
  throw new Unreadable('gzip', message)
}

/** More memory than this is not kept for the next bytes. */
const KEPT_BYTES = 1024 * 1024

/** Bytes that come in pieces, however small, in one growing memory. */
export class ByteBuffer {
  length = 0
  #memory = new Uint8Array()

  /** Copies a piece behind the bytes that are there. */
  append(piece: Uint8Array): void {
    const length = this.length + piece.length
    if (length > this.#memory.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#memory.length))
      larger.set(this.#memory.subarray(0, this.length))
      this.#memory = larger
    }
    this.#memory.set(piece, this.length)
    this.length = length
  }

  /** Returns the bytes, and begins again with none. They are valid until the next piece is appended. */
  take(): Uint8Array {
    const bytes = this.#memory.subarray(0, this.length)
    this.length = 0
    if (this.#memory.length > KEPT_BYTES) this.#memory = new Uint8Array()
    return bytes
  }
}
