import type { NodeRequest } from './node-messages.ts'

/** Most bytes that are taken in and dropped after an answer: 64 MiB. */
const MOST_DROPPED = 67_108_864
/** How long a client that is still to send may be silent, in milliseconds. */
const LONGEST_SILENCE = 5000

/** Whether the client is still sending. */
export function isSending({ complete, headers }: NodeRequest): boolean {
  if (complete !== false) return false
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Takes in and drops what the client is still sending. A connection that is closed while bytes come in is reset, and a client
 * that sends all before it reads would never see its answer.
 *
 * @param done - called when all has come, when it is too much or stops coming, and when the client is gone; maybe more than once
 */
export function dropRest(request: NodeRequest, done: () => void): void {
  const silence = setTimeout(done, LONGEST_SILENCE).unref()
  let size = 0
  request.on('data', (chunk) => {
    silence.refresh()
    size += chunk instanceof Uint8Array ? chunk.length : String(chunk).length
    if (size > MOST_DROPPED) done()
  })
  for (const event of ['end', 'error', 'close']) {
    request.on(event, () => {
      clearTimeout(silence)
      done()
    })
  }
}
