import { Gathering } from '../routes/gathering.ts'
import { bodyTooLarge } from '../routes/wire-error.ts'
import type { NodeRequest } from './node-messages.ts'

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
    const bytes = new Gathering(limit)
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
