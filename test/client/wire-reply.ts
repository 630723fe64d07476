import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:http'
import type { Ask, Case } from '../http-adapters/cases/case.ts'

/** A reply as it is on the wire, without the headers that differ in every reply. */
export interface Reply {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/**
 * Sends a request, with whatever body it has.
 *
 * @param url - with the API's prefix
 */
export async function replyOf(url: string, [who, method, path, body]: Ask, more: Case['headers'] = {}): Promise<Reply> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  const headers = {
    ...more,
    ...(who !== 'anonymous' && { authorization: `token ${who}` }),
    ...(text !== undefined && { 'content-length': Buffer.byteLength(text) }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { method, headers }, async (reply) => {
      const { date: _, ...rest } = reply.headers
      resolve({ status: reply.statusCode, headers: rest, text: Buffer.concat(await reply.toArray()).toString() })
    })
    asked.on('error', reject).end(text)
  })
}
