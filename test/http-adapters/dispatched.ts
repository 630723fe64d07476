import type { ApiRequest } from '../../src/http-adapters/http.ts'
import { plainRequest, readText } from './plain-request.ts'
import type { Seen, Sent } from './run-case.ts'
import type { World } from './world.ts'
import { authenticate } from './world.ts'

/** Sends a request to a world without an adapter. */
export async function dispatched({ api }: World, sent: Sent): Promise<Seen> {
  const request = toNeutral(sent)
  const answer = await api.dispatch(request, () => authenticate(sent.headers['authorization']))
  const reply = answer ?? api.unmatched(request)
  const { status, headers } = reply
  return {
    status,
    headers: new Map(headers.map(([name, value]) => [name.toLowerCase(), value])),
    text: await readText(reply),
  }
}

function toNeutral({ method, path: target, headers, body }: Sent): ApiRequest {
  const [path = '', query = ''] = target.split('?')
  return plainRequest({ method, path, query, header: (name) => headers[name], body })
}
