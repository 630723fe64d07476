// The globals that Node, browsers, Workers, Bun and Deno share, as far as the portable rooms use them. tsconfig.portable.json
// compiles those rooms with this file in place of Node's types, so that a global `Buffer` or `process` there is an error.
// Add a global when a portable room needs it and every runtime has it; add a member likewise.

declare class AbortSignal {
  static any(signals: readonly AbortSignal[]): AbortSignal
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

declare class AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

declare function structuredClone<T>(value: T): T

declare const console: {
  error(...values: unknown[]): void
}

declare class URLSearchParams {
  constructor(init?: string | Iterable<readonly [string, string]>)
  get(name: string): string | null
  getAll(name: string): string[]
  has(name: string): boolean
  set(name: string, value: string): void
  append(name: string, value: string): void
  delete(name: string): void
  sort(): void
  keys(): IterableIterator<string>
  toString(): string
  [Symbol.iterator](): IterableIterator<[string, string]>
}

declare class URL {
  static canParse(url: string, base?: string | URL): boolean
  constructor(url: string, base?: string | URL)
  readonly href: string
  readonly origin: string
  readonly protocol: string
  readonly host: string
  readonly pathname: string
  readonly search: string
  readonly searchParams: URLSearchParams
  toString(): string
}

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
  encodeInto(text: string, bytes: Uint8Array): { readonly read: number; readonly written: number }
}

declare class TextDecoder {
  constructor(label?: string, options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean })
  decode(bytes?: Uint8Array, options?: { readonly stream?: boolean }): string
}

interface Headers {
  get(name: string): string | null
}

interface RequestBody extends AsyncIterable<Uint8Array> {
  values(options: { readonly preventCancel: boolean }): AsyncIterable<Uint8Array>
}

interface Request {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly signal: AbortSignal
  readonly body: RequestBody | null
  readonly bodyUsed: boolean
}

declare class Response {
  constructor(
    body?: string | ReadableStream<Uint8Array> | null,
    init?: { readonly status?: number; readonly headers?: { readonly [name: string]: string } },
  )
  readonly status: number
}

declare const crypto: {
  randomUUID(): string
  readonly subtle: { digest(algorithm: string, data: Uint8Array): Promise<ArrayBuffer> }
}
declare const performance: {
  /** Milliseconds since some moment. */
  now(): number
}
declare function queueMicrotask(callback: () => void): void
declare function setTimeout(callback: () => void, milliseconds?: number): unknown
declare function clearTimeout(timer: unknown): void

interface ReadableStreamController<T> {
  enqueue(chunk: T): void
  close(): void
  error(reason?: unknown): void
}

declare class ReadableStream<T> {
  constructor(
    source: { pull(controller: ReadableStreamController<T>): Promise<void>; cancel?(): void },
    strategy?: { readonly highWaterMark: number },
  )
  readonly locked: boolean
}

interface ReadableStreamReader<T> {
  read(): Promise<{ readonly done: false; readonly value: T } | { readonly done: true; readonly value?: undefined }>
  cancel(reason?: unknown): Promise<void>
}

interface WritableStreamWriter<T> {
  write(chunk: T): Promise<void>
  close(): Promise<void>
}

declare class DecompressionStream {
  constructor(format: 'gzip')
  readonly readable: { getReader(): ReadableStreamReader<Uint8Array> }
  readonly writable: { getWriter(): WritableStreamWriter<Uint8Array> }
}
