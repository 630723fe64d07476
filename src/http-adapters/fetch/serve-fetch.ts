import type { Actor, Api } from '../routes/create-api.ts'
import type { Authenticate, DispatchOptions } from '../routes/dispatch.ts'
import type { ApiResponse, Target } from '../routes/messages.ts'
import { below, parseTarget } from '../routes/messages.ts'
import { FetchRequestContext } from './fetch-context.ts'

/** One Fetch request. */
export interface FetchContext<A extends Actor> {
  readonly request: Request
  /** The path at which the API is mounted; `""` for the root. */
  readonly base: string
  readonly authenticate: Authenticate<A>
  readonly options: DispatchOptions
}

/**
 * Answers one request, synchronously if the API does: each promise that is waited for costs a turn of the microtask
 * queue. Returns `undefined` for a path that the API does not have. Never throws and never rejects.
 */
export function serveFetch<A extends Actor>(
  api: Api<A>,
  visit: FetchContext<A>,
): Response | undefined | Promise<Response | undefined> {
  const target = targetOf(visit)
  if (target === undefined) return undefined

  const exchange = new FetchRequestContext(visit.request, target)
  const reply = api.dispatch(exchange, visit.authenticate, visit.options)
  if (reply === undefined || !('then' in reply)) return reply && respond(api, exchange, reply)
  return reply.then((settled) => settled && respond(api, exchange, settled))
}

/** The 404 response for a path that the API does not have. */
export function refuseFetch<A extends Actor>(api: Api<A>, request: Request): Response {
  return toResponse(api.unmatched(new FetchRequestContext(request, { path: '/', query: '' })))
}

function targetOf({ request: { url }, base }: Pick<FetchContext<never>, 'request' | 'base'>): Target | undefined {
  const fragment = url.indexOf('#')
  return below(base, parseTarget(fragment === -1 ? url : url.slice(0, fragment)))
}

/** Converts a response. If that fails, for example because of an invalid header, the result is a 500. */
function respond<A extends Actor>(api: Api<A>, exchange: FetchRequestContext, reply: ApiResponse): Response {
  try {
    return toResponse(reply)
  } catch (error) {
    return toResponse(api.failed(exchange, error))
  }
}

/**
 * Converts a response to a Fetch response.
 *
 * @throws TypeError when HTTP does not allow a header
 */
function toResponse({ status, headers, body }: ApiResponse): Response {
  const head: Record<string, string> = {}
  for (const [name, value] of headers) head[name] = value
  return new Response(body ?? null, { status, headers: head })
}
