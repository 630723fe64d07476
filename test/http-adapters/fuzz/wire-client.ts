import type { IncomingMessage } from 'node:http'
import { Agent, request as open } from 'node:http'
import type { Exchanged } from '../declared-replies.ts'
import type { FuzzedRequest } from './fuzzed-request.ts'

/** Milliseconds after which a request that has no answer hangs. */
const PATIENCE = 5000

/** A client that keeps its connection, as long as the server does. */
export class WireClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #base: string

  /** @param base - origin and mount point */
  constructor(base: string) {
    this.#base = base
  }

  /** Sends a request and waits for its whole answer. */
  async send(sent: FuzzedRequest): Promise<Exchanged> {
    const incoming = await this.#begin(sent)
    const chunks: Uint8Array[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    return {
      method: sent.method,
      path: sent.path,
      status: incoming.statusCode ?? 0,
      headers: new Map(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
      text: Buffer.concat(chunks).toString(),
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #begin({ method, path, headers, body, chunked }: FuzzedRequest): Promise<IncomingMessage> {
    const { hostname, port, pathname } = new URL(this.#base)
    const framing = framingOf(body, chunked)
    return new Promise((resolve, reject) => {
      const outgoing = open(
        {
          agent: this.#agent,
          hostname,
          port,
          method,
          path: (pathname === '/' ? '' : pathname) + path, // as it is: a URL would normalize it
          headers: { ...headers, ...framing },
          timeout: PATIENCE,
        },
        resolve,
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${PATIENCE} ms`)))
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

function framingOf(body: Uint8Array | undefined, chunked: boolean): Readonly<Record<string, string | number>> {
  if (body === undefined) return {}
  return chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length }
}
