import { cancel } from '../routes/byte-stream.ts'
import type { Actor, Api } from '../routes/create-api.ts'
import type { ApiResponse, StreamedResponse, TextResponse } from '../routes/messages.ts'
import { below, isStreamed, parseTarget, toBase } from '../routes/messages.ts'
import type { MountOptions } from '../routes/mount-options.ts'
import { checkMount } from '../routes/mount-options.ts'
import { FetchRequestContext } from './fetch-context.ts'

/** Options for mounting an API where requests follow the Fetch standard. */
export type FetchMountOptions<A extends Actor, Req extends Request, Native extends readonly unknown[]> = MountOptions<
  A,
  readonly [request: Req, ...native: Native]
>

/**
 * Answers a request: with a response if the ports and the storage are synchronous, otherwise with a promise for one.
 * Runtimes and frameworks take both, and each promise costs them more than a route. The handler passes any further
 * arguments, such as the environment of a Worker or the context of a framework, to `authenticate`.
 */
export interface FetchHandler<Req extends Request = Request, Native extends readonly unknown[] = readonly unknown[]> {
  /** Answers paths that the API does not have with 404. Never throws and never rejects. */
  (request: Req, ...native: Native): Response | Promise<Response>
  /**
   * Returns `undefined` for a path that the API does not have, without having read anything of the request. Never throws
   * and never rejects.
   */
  match(request: Req, ...native: Native): Response | undefined | Promise<Response | undefined>
}

/**
 * Mounts an API wherever a function takes a Fetch `Request` and returns a `Response`: `Bun.serve`, `Deno.serve`,
 * Workers, Hono's `mount`, and route handlers in the style of Next.js. Source: docs/manual/05-mount-it.md
 *
 * @throws TypeError when an option is missing or invalid
 */
export function fetchHandler<
  A extends Actor,
  Req extends Request = Request,
  Native extends readonly unknown[] = readonly unknown[],
>(api: Api<A>, options: FetchMountOptions<NoInfer<A>, Req, Native>): FetchHandler<Req, Native> {
  checkMount('fetchHandler', api, options)
  const { authenticate, crossSite } = options
  const base = toBase(options.basePath)
  const dispatchOptions = { crossSite }

  const match = (request: Req, ...native: Native): ReturnType<FetchHandler['match']> => {
    const { url } = request
    const fragment = url.indexOf('#')
    const target = below(base, parseTarget(fragment === -1 ? url : url.slice(0, fragment)))
    if (target === undefined) return undefined

    const apiRequest = new FetchRequestContext(request, target)
    const reply = api.dispatch(apiRequest, () => authenticate(request, ...native), dispatchOptions)
    // Each promise that is waited for costs a turn of the microtask queue.
    if (reply === undefined || !('then' in reply)) return reply && respond(api, apiRequest, reply)
    return reply.then((settled) => settled && respond(api, apiRequest, settled))
  }
  const handle = (request: Req, ...native: Native): Response | Promise<Response> => {
    const served = match(request, ...native)
    if (served instanceof Promise) return served.then((response) => response ?? refuse(api, request))
    return served ?? refuse(api, request)
  }
  return Object.assign(handle, { match })
}

/** The 404 response for a path that the API does not have. */
function refuse<A extends Actor>(api: Api<A>, request: Request): Response {
  return toResponse(api.unmatched(new FetchRequestContext(request, { path: '/', query: '' })))
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
