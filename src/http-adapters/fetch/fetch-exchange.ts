import type { NeutralRequest } from '../routes/neutral.ts'
import type { Target } from '../routes/target.ts'
import { readBody } from './fetch-body.ts'

/** A Fetch request as the routes see it. Nothing is read before somebody asks for it. */
export class FetchExchange implements NeutralRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #request: Request
  #gone: AbortController | undefined

  constructor(request: Request, target: Target) {
    this.method = request.method
    this.path = target.path
    this.query = target.query
    this.#request = request
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? (name === 'host' ? this.#host() : undefined)
  }

  body(limit: number): Promise<Uint8Array | undefined> {
    return readBody(this.#request, limit, () => this.#clientGone())
  }

  get signal(): AbortSignal {
    return this.#gone?.signal ?? this.#request.signal
  }

  /** Not every runtime shows the Host header: it stands in the address. */
  #host(): string {
    return new URL(this.#request.url).host
  }

  /** Not every runtime aborts the request's own signal. */
  #clientGone(): unknown {
    this.#gone ??= new AbortController()
    this.#gone.abort()
    return this.#gone.signal.reason
  }
}
