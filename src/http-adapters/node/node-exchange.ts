import type { NeutralRequest } from '../routes/neutral.ts'
import type { Target } from '../routes/target.ts'
import { readBody } from './node-body.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/** A Node request as the routes see it. Nothing is read or listened to before somebody asks for it. */
export class NodeExchange implements NeutralRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #request: NodeRequest
  readonly #response: NodeResponse
  #controller: AbortController | undefined

  constructor(request: NodeRequest, response: NodeResponse, target: Target) {
    this.method = request.method ?? 'GET'
    this.path = target.path
    this.query = target.query
    this.#request = request
    this.#response = response
  }

  header(name: string): string | undefined {
    const { headers } = this.#request
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined) // HTTP/2 says it so
    return typeof value === 'object' ? value.join(', ') : value
  }

  body(limit: number): unknown {
    return readBody(this.#request, limit, () => this.#clientGone())
  }

  /** Made when it is first looked at: most requests are answered without. */
  get signal(): AbortSignal {
    this.#controller ??= this.#watch()
    return this.#controller.signal
  }

  #watch(): AbortController {
    const controller = new AbortController()
    const abort = (): void => {
      if (!this.#response.headersSent) controller.abort()
    }
    if (this.#response.destroyed === true) abort()
    else this.#response.on('close', abort)
    return controller
  }

  #clientGone(): unknown {
    this.#controller ??= this.#watch()
    this.#controller.abort()
    return this.#controller.signal.reason
  }
}
