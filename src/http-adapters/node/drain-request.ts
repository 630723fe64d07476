import { MAX_DISCARDED_BYTES } from '../routes/messages.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/** How long a client that is still to send may be silent, in milliseconds. */
const MAX_SILENCE_MS = 5000

/** Whether the client is still sending. */
export function isSending({ complete, headers }: NodeRequest): boolean {
  if (complete !== false) return false
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Whether the client says that it sends more than is taken in and dropped: then the answer says that the connection ends. */
export function isTooMuchToDrop({ headers }: NodeRequest): boolean {
  return Number(headers['content-length']) > MAX_DISCARDED_BYTES
}

/** What becomes of a client that is still sending; one of these is called, once. */
export interface Rest {
  /** All has come, or the client is gone. */
  ended(): void
  /** It is too much, or stops coming. */
  cut(): void
}

/**
 * Takes in and drops what the client is still sending. A connection that is closed while bytes come in is reset, and a client
 * that sends all before it reads would never see its answer.
 */
export function drain(request: NodeRequest, { ended, cut }: Rest): void {
  let isOver = false
  const finish = (tell: () => void): void => {
    clearTimeout(silence)
    if (isOver) return
    isOver = true
    tell()
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
}

/**
 * Calls when the response has been handed over, or when that takes as long as a client may be silent.
 *
 * @param then - maybe called more than once
 */
export function afterHandingOver(response: NodeResponse, then: () => void): void {
  response.on('finish', then)
  setTimeout(then, MAX_SILENCE_MS).unref()
}
