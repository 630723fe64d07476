import { BodyBuffer, parsedStream } from '../routes/body.ts'
import { bodyTooLarge } from '../routes/error-status.ts'
import type { ApiRequest, Target } from '../routes/messages.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import { isDestroyed } from './node-messages.ts'
import { RequestStream, toBytes } from './request-stream.ts'

/** A Node request as the routes see it. It reads nothing and adds no listener until the routes ask for it. */
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
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined) // its name in HTTP/2
    return typeof value === 'object' ? value.join(', ') : value
  }

  body(limit: number): unknown {
    return readBody(this.#request, limit, () => this.clientGone())
  }

  stream(limit: number): ReturnType<ApiRequest['stream']> {
    return streamBody(this.#request, limit, () => this.clientGone())
  }

  /** Created on first access: most requests are answered without it. */
  get signal(): AbortSignal {
    this.#controller ??= this.#watch()
    return this.#controller.signal
  }

  get aborted(): boolean {
    if (this.#controller !== undefined) return this.#controller.signal.aborted
    return isDestroyed(this.#response) && !this.#response.headersSent
  }

  #watch(): AbortController {
    const controller = new AbortController()
    const abort = (): void => {
      if (!this.#response.headersSent) controller.abort()
    }
    if (isDestroyed(this.#response)) abort()
    else this.#response.on('close', abort)
    return controller
  }

  /** Aborts the signal: the client has disconnected. Returns the reason. */
  clientGone(): unknown {
    this.#controller ??= this.#watch()
    this.#controller.abort()
    return this.#controller.signal.reason
  }
}

/**
 * Reads the body of a Node request: the value that a body parser left, otherwise the bytes. The adapter still drains a
 * body beyond the limit, so that the client receives its response and the connection stays usable.
 *
 * @param limit - the maximum number of bytes to accept
 * @param clientGone - called when the client disconnects before the end of the body; returns the abort reason
 * @throws WireError `BODY_TOO_LARGE`; TypeError when the host has read the body without leaving it in `request.body`
 */
export function readBody(request: NodeRequest, limit: number, clientGone: () => unknown): unknown {
  if (isParsed(request)) return request.body
  if (!isUnread(request, limit, clientGone)) return undefined

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

/** Returns the body of a Node request as bytes that are received while they are read. Otherwise as `readBody`. */
function streamBody(request: NodeRequest, limit: number, clientGone: () => unknown): ReturnType<ApiRequest['stream']> {
  if (isParsed(request)) return parsedStream(request.body, limit)
  return isUnread(request, limit, clientGone) ? new RequestStream(request, limit, clientGone) : undefined
}

/** Returns whether a request may have bytes that no one has read. Throws as `readBody`. */
function isUnread(request: NodeRequest, limit: number, clientGone: () => unknown): boolean {
  if (request.readableDidRead === true)
    throw new TypeError('the host has already read this body: leave it in request.body')
  if (request.readableEnded === true) return false
  if (request.destroyed === true) throw clientGone()
  if (Number(request.headers['content-length']) > limit) throw bodyTooLarge(limit)
  return true
}

/**
 * Some body parsers set `body` to null or an empty object although they have read nothing. The bytes are then still
 * unread.
 */
function isParsed({ body, readableDidRead }: NodeRequest): boolean {
  if (body === undefined) return false
  return readableDidRead !== false || !isNil(body)
}

function isNil(value: unknown): boolean {
  if (typeof value !== 'object' || Array.isArray(value)) return false
  return value === null || Object.keys(value).length === 0
}
