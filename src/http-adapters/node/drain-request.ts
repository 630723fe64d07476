import { MAX_DISCARDED_BYTES } from '../routes/messages.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/** How long a client that has not sent everything may be silent, in milliseconds. */
const MAX_SILENCE_MS = 5000

/** Whether the client is still sending. */
export function isSending({ complete, headers }: NodeRequest): boolean {
  if (complete !== false) return false
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Whether the client announces more bytes than an adapter discards. The response then announces that the connection
 * closes.
 */
export function isTooMuchToDrop({ headers }: NodeRequest): boolean {
  return Number(headers['content-length']) > MAX_DISCARDED_BYTES
}

/** Callbacks for a client that is still sending. Exactly one of them is called, once. */
export interface Rest {
  /** The client has sent everything, or has disconnected. */
  ended(): void
  /** The client has sent too much, or has stopped sending. */
  cut(): void
}

/**
 * Reads and discards what the client is still sending. A connection that is closed while bytes arrive is reset, and a
 * client that sends its whole request before it reads would never see the response.
 */
export function drain(request: NodeRequest, { ended, cut }: Rest): void {
  let isOver = false
  const finish = (settle: () => void): void => {
    clearTimeout(silence)
    if (isOver) return
    isOver = true
    settle()
  }
  const silence = setTimeout(() => finish(cut), MAX_SILENCE_MS).unref()

  let size = 0
  request.on('data', (chunk) => {
    if (isOver) return
    silence.refresh()
    size += chunk instanceof Uint8Array ? chunk.length : String(chunk).length
    if (size > MAX_DISCARDED_BYTES) finish(cut)
  })
  for (const event of ['end', 'error', 'close']) request.on(event, () => finish(ended))
  request.resume?.() // it is paused if its body was being read
}

/**
 * Calls `then` when the response has been handed over to the operating system, or after `MAX_SILENCE_MS` milliseconds.
 *
 * @param then - may be called more than once
 */
export function afterHandingOver(response: NodeResponse, then: () => void): void {
  response.on('finish', then)
  setTimeout(then, MAX_SILENCE_MS).unref()
}
