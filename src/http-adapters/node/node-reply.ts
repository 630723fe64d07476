import type { NeutralReply } from '../routes/neutral.ts'
import type { NodeResponse } from './node-messages.ts'

/** Lists that the host may have begun: ours are added to them. */
const LISTS: ReadonlySet<string> = new Set(['Access-Control-Expose-Headers', 'Link'])
const OF_A_BODY: readonly string[] = ['Content-Type', 'Content-Length']

/**
 * Writes a reply. Headers that the host has set stay, but for those that this reply has too. A response that the host has
 * begun, or whose client is gone, is left alone.
 */
export function writeReply(response: NodeResponse, reply: NeutralReply): void {
  if (response.headersSent || response.writableEnded || response.destroyed === true) return

  response.statusCode = reply.status
  if (reply.body === undefined) for (const name of OF_A_BODY) response.removeHeader?.(name)
  for (const [name, value] of reply.headers)
    response.setHeader(name, LISTS.has(name) ? added(response, name, value) : value)
  if (reply.body === undefined) response.end()
  else response.end(reply.body)
}

function added(response: NodeResponse, name: string, value: string): string {
  const before = response.getHeader?.(name)
  if (before === undefined) return value
  return typeof before === 'object' ? [...before, value].join(', ') : `${before}, ${value}`
}
