import type { NeutralReply } from '../routes/neutral.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import { afterHandingOver, dropRest, isSending, isTooMuchToDrop } from './unread.ts'

/** Lists that the host may have begun: ours are added to them. */
const LISTS: ReadonlySet<string> = new Set(['Access-Control-Expose-Headers', 'Link'])
const OF_A_BODY: readonly string[] = ['Content-Type', 'Content-Length']

/**
 * Writes a reply. Headers that the host has set stay, but for those that this reply has too. A response that the host has
 * begun, or whose client is gone, is left alone.
 */
export function writeReply(request: NodeRequest, response: NodeResponse, reply: NeutralReply): void {
  if (response.headersSent || response.writableEnded || response.destroyed === true) return

  response.statusCode = reply.status
  writeHeaders(response, reply)
  if (isSending(request)) writeEarly(request, response, reply.body)
  else if (reply.body === undefined) response.end()
  else response.end(reply.body)
}

function writeHeaders(response: NodeResponse, { headers, body }: NeutralReply): void {
  if (body === undefined) for (const name of OF_A_BODY) response.removeHeader?.(name)
  for (const [name, value] of headers) {
    response.setHeader(name, LISTS.has(name) ? added(response, name, value) : value)
  }
}

function added(response: NodeResponse, name: string, value: string): string {
  const before = response.getHeader?.(name)
  if (before === undefined) return value
  return typeof before === 'object' ? [...before, value].join(', ') : `${before}, ${value}`
}

/** From HTTP/2 on the connection is for other requests too, and there is no such header. */
function isMultiplexed({ httpVersionMajor = 1 }: NodeRequest): boolean {
  return httpVersionMajor > 1
}

/** The answer goes out whole at once; the response ends when the client has sent all it had to send, or is cut off. */
function writeEarly(request: NodeRequest, response: NodeResponse, body: string | undefined): void {
  if (isTooMuchToDrop(request) && !isMultiplexed(request)) response.setHeader('Connection', 'close')
  if (body === undefined) {
    response.flushHeaders?.()
  } else {
    const bytes = new TextEncoder().encode(body)
    response.setHeader('Content-Length', bytes.length)
    response.write?.(bytes)
  }

  const ended = (): void => {
    if (!response.writableEnded) response.end()
  }
  const cut = (): void => {
    afterHandingOver(response, () => request.destroy?.()) // the response would lose its hold on the socket by then
    ended()
  }
  dropRest(request, { ended, cut })
}
