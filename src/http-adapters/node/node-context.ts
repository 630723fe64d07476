import { BodyBuffer } from '../routes/body.ts'
import { bodyTooLarge } from '../routes/error-status.ts'
import type { ApiRequest, Target } from '../routes/messages.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/** A Node request as the routes see it. Nothing is read or listened to before somebody asks for it. */
export class NodeRequestContext implements ApiRequest {
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

/**
 * Reads the body of a Node request: what a body parser left, else the bytes. What is over the limit is still drained, so that
 * the client gets its answer and the connection stays in order.
 *
 * @param limit - most bytes to take
 * @param clientGone - called when the client goes away before the end; gives the reason
 * @throws WireError `BODY_TOO_LARGE`; TypeError when the host has read the body and left nothing of it
 */
export function readBody(request: NodeRequest, limit: number, clientGone: () => unknown): unknown {
  if (isParsed(request)) return request.body
  if (request.readableDidRead === true) throw new TypeError('the host has read this body: leave it as request.body')
  if (request.readableEnded === true) return undefined
  if (request.destroyed === true) throw clientGone()
  if (Number(request.headers['content-length']) > limit) throw bodyTooLarge(limit)

  return new Promise((resolve, reject) => {
    const bytes = new BodyBuffer(limit)
    let isWhole = false
    request.on('data', (chunk) => {
      if (!bytes.take(toBytes(chunk))) reject(bodyTooLarge(limit))
    })
    request.on('end', () => {
      isWhole = true
      resolve(bytes.joined())
    })
    request.on('error', () => reject(clientGone()))
    request.on('close', () => {
      if (!isWhole) reject(clientGone())
    })
  })
}

/** Some body parsers leave null or an empty object where they have read nothing: then the bytes are still to be had. */
function isParsed({ body, readableDidRead }: NodeRequest): boolean {
  if (body === undefined) return false
  return readableDidRead !== false || !isNothing(body)
}

function isNothing(value: unknown): boolean {
  if (typeof value !== 'object' || Array.isArray(value)) return false
  return value === null || Object.keys(value).length === 0
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  return new TextEncoder().encode(String(chunk)) // the host has set an encoding
}
