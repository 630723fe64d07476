import { cancel } from '../routes/byte-stream.ts'
import type { Actor, Api, Authenticate, DispatchOptions } from '../routes/create-api.ts'
import type { ApiResponse, StreamedResponse, Target, TextResponse } from '../routes/messages.ts'
import { below, isStreamed, parseTarget } from '../routes/messages.ts'
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
  context: FetchContext<A>,
): Response | undefined | Promise<Response | undefined> {
  const target = targetOf(context)
  if (target === undefined) return undefined

  const apiRequest = new FetchRequestContext(context.request, target)
  const reply = api.dispatch(apiRequest, context.authenticate, context.options)
  if (reply === undefined || !('then' in reply)) return reply && respond(api, apiRequest, reply)
  return reply.then((settled) => settled && respond(api, apiRequest, settled))
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
function respond<A extends Actor>(api: Api<A>, apiRequest: FetchRequestContext, reply: ApiResponse): Response {
  try {
    return isStreamed(reply) ? streamed(api, apiRequest, reply) : toResponse(reply)
  } catch (error) {
    return toResponse(api.failed(apiRequest, error))
  }
}

/**
 * Converts a response to a Fetch response.
 *
 * @throws TypeError when HTTP does not allow a header
 */
function toResponse({ status, headers, body }: TextResponse): Response {
  return new Response(body ?? null, { status, headers: toHeaders(headers) })
}

/** Converts a response whose body is produced while the runtime sends it. Throws as `toResponse`. */
function streamed<A extends Actor>(api: Api<A>, apiRequest: FetchRequestContext, reply: StreamedResponse): Response {
  const bytes = reply.body[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await bytes.next()
          if (next.done === true) controller.close()
          else controller.enqueue(next.value)
        } catch (error) {
          api.failed(apiRequest, error) // logs it: the response has begun
          controller.error(new Error('the response is not complete'))
        }
      },
      cancel() {
        apiRequest.clientGone()
        cancel(bytes)
      },
    },
    { highWaterMark: 0 },
  )
  try {
    return new Response(body, { status: reply.status, headers: toHeaders(reply.headers) })
  } catch (error) {
    cancel(bytes)
    throw error
  }
}

function toHeaders(lines: ApiResponse['headers']): Record<string, string> {
  const head: Record<string, string> = {}
  for (const [name, value] of lines) head[name] = value
  return head
}
