import type { Api, ApiRequest, ApiResponse } from '../../../src/http-adapters/http.ts'
import { started } from '../../../src/http-adapters/routes/replies.ts'
import { deferred } from '../../deferred.ts'
import type { Person, World } from '../../world.ts'
import { openWorld } from '../../world.ts'

/** Answers a request in place of the routes. */
export type Answer = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

/** An API whose only path is `/streams`; it answers as the test says. */
export interface StreamingWorld extends Pick<World, 'logged'> {
  readonly api: Api<Person>
}

/** Errors become responses as in every API. */
export function streamingWorld(answer: Answer): StreamingWorld {
  const { api, logged } = openWorld()
  const dispatch: Api<Person>['dispatch'] = (request) =>
    request.path === '/streams' ? answered(request, answer).catch((error) => api.failed(request, error)) : undefined
  return { api: { ...api, dispatch }, logged }
}

async function answered(request: ApiRequest, answer: Answer): Promise<ApiResponse> {
  return answer(request)
}

/** 200 with bytes, whose first piece has been produced. */
export async function streamed(bytes: AsyncIterable<Uint8Array>): Promise<ApiResponse> {
  return { status: 200, headers: [['Content-Type', 'application/octet-stream']], body: await started(bytes) }
}

/** 200 with a text. */
export function text(body: string): ApiResponse {
  return { status: 200, headers: [['Content-Type', 'text/plain']], body }
}

/** The body of a request as bytes. */
export function streamOf(request: ApiRequest): AsyncIterable<Uint8Array> {
  const stream = request.stream(100 * MEBIBYTE)
  if (stream !== undefined && Symbol.asyncIterator in stream) return stream
  throw new TypeError('the body is not a stream')
}

export const MEBIBYTE = 1_048_576

/** A piece of one mebibyte, of one byte that is its number. */
export function piece(index: number): Uint8Array {
  return new Uint8Array(MEBIBYTE).fill(index)
}

/** Pieces that are counted when they are produced. What is thrown behind them is `error`, if there is one. */
export class Pieces implements AsyncIterableIterator<Uint8Array> {
  produced = 0
  readonly #count: number
  readonly #error: Error | undefined
  readonly #ended = deferred()
  /** Fulfils when the adapter has ended the bytes before their end. */
  readonly returned: Promise<void> = this.#ended.promise

  constructor(count: number, error?: Error) {
    this.#count = count
    this.#error = error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.produced < this.#count) {
      this.produced += 1
      return { done: false, value: piece(this.produced - 1) }
    }
    if (this.#error !== undefined) throw this.#error
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#ended.resolve()
    return { done: true, value: undefined }
  }
}

/** Whether bytes are pieces from the first on, each whole. */
export function isPieces(bytes: Uint8Array, count: number): boolean {
  if (bytes.length !== count * MEBIBYTE) return false
  for (let index = 0; index < count; index += 1) {
    const at = index * MEBIBYTE
    if (Buffer.compare(bytes.subarray(at, at + MEBIBYTE), piece(index)) !== 0) return false
  }
  return true
}

/** Waits until other things that are ready have run many times. */
export async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
