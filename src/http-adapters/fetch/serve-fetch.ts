import type { Actor, Api } from '../routes/create-api.ts'
import type { Authenticate, DispatchOptions } from '../routes/dispatch.ts'
import type { ApiResponse, Target } from '../routes/messages.ts'
import { below, parseTarget } from '../routes/messages.ts'
import { FetchRequestContext } from './fetch-context.ts'

/** One request on its way through a function of Fetch requests. */
export interface FetchContext<A extends Actor> {
  readonly request: Request
  /** Where the API is; `""` at the root. */
  readonly base: string
  readonly authenticate: Authenticate<A>
  readonly options: DispatchOptions
}

/** Answers one request; undefined: not one of our paths. Never rejects. */
export async function serveFetch<A extends Actor>(api: Api<A>, visit: FetchContext<A>): Promise<Response | undefined> {
  const target = targetOf(visit)
  if (target === undefined) return undefined

  const exchange = new FetchRequestContext(visit.request, target)
  const reply = await api.dispatch(exchange, visit.authenticate, visit.options)
  return reply && respond(api, exchange, reply)
}

/** The 404 to a path that nobody answers. */
export function refuseFetch<A extends Actor>(api: Api<A>, request: Request): Response {
  return toResponse(api.unmatched(new FetchRequestContext(request, { path: '/', query: '' })))
}

function targetOf({ request: { url }, base }: Pick<FetchContext<never>, 'request' | 'base'>): Target | undefined {
  const fragment = url.indexOf('#')
  return below(base, parseTarget(fragment === -1 ? url : url.slice(0, fragment)))
}

/** A reply that cannot be written, for example with a header that is not allowed, becomes a 500. */
function respond<A extends Actor>(api: Api<A>, exchange: FetchRequestContext, reply: ApiResponse): Response {
  try {
    return toResponse(reply)
  } catch (error) {
    return toResponse(api.failed(exchange, error))
  }
}

/**
 * A reply as a Fetch response.
 *
 * @throws TypeError for a header that HTTP does not allow
 */
function toResponse({ status, headers, body }: ApiResponse): Response {
  return new Response(body ?? null, { status, headers: Object.fromEntries(headers) })
}
