import { joined, limited } from '../routes/body.ts'
import type { Actor, Api } from '../routes/create-api.ts'
import { bodyTooLarge } from '../routes/error-status.ts'
import type { ApiRequest, ApiResponse, StreamedResponse, Target, TextResponse } from '../routes/messages.ts'
import { below, endOf, isStreamed, MAX_DISCARDED_BYTES, parseTarget, toBase } from '../routes/messages.ts'
import type { MountOptions } from '../routes/mount-options.ts'
import { checkMount } from '../routes/mount-options.ts'

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
 * Workers, Hono (by `match`), and route handlers in the style of Next.js. Source: docs/manual/05-mount-it.md
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
    if (served !== undefined && 'then' in served) return served.then((response) => response ?? refuse(api, request))
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
  const nextBytes = inThisContext(bytes)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await nextBytes()
          if (next.done === true) controller.close()
          else controller.enqueue(next.value)
        } catch (error) {
          api.failed(apiRequest, error) // logs it: the response has begun
          controller.error(new Error('the response is not complete'))
        }
      },
      cancel() {
        apiRequest.clientGone()
        endOf(bytes)
      },
    },
    { highWaterMark: 0 },
  )
  try {
    return new Response(body, { status: reply.status, headers: toHeaders(reply.headers) })
  } catch (error) {
    endOf(bytes)
    throw error
  }
}

/**
 * Returns the `next` of an iterator for a runtime, which calls it in an asynchronous context of its own. The iterator calls the host, so
 * it runs in the context in which this function is called: that of the request.
 */
function inThisContext<T>(iterator: AsyncIterator<T>): () => Promise<IteratorResult<T>> {
  let ask = (_answer: (step: Promise<IteratorResult<T>>) => void): void => undefined
  const asked = () => new Promise<Parameters<typeof ask>[0]>((resolve) => (ask = resolve))
  const answerEach = async (): Promise<void> => {
    for (;;) {
      const answer = await asked()
      answer(iterator.next())
    }
  }
  void answerEach()
  return () => new Promise((answer) => ask(answer))
}

function toHeaders(lines: ApiResponse['headers']): Record<string, string> {
  const head: Record<string, string> = {}
  for (const [name, value] of lines) head[name] = value
  return head
}

/** A Fetch request as the routes see it. It reads nothing until the routes ask for it. */
class FetchRequestContext implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #request: Request
  #gone: AbortController | undefined

  constructor(request: Request, target: Target) {
    this.method = request.method
    this.path = target.path
    this.query = target.query
    this.#request = request
  }

  /** Not every runtime exposes the Host header. The URL contains the same host. */
  header(name: string): string | undefined {
    const { headers, url } = this.#request
    return headers.get(name) ?? (name === 'host' ? new URL(url).host : undefined)
  }

  async body(limit: number): Promise<Uint8Array | undefined> {
    const bytes = this.stream(limit)
    return bytes && joined(bytes)
  }

  /**
   * Does not touch a body whose `Content-Length` exceeds the limit: the runtime discards that.
   *
   * @throws WireError `BODY_TOO_LARGE`; TypeError when the host has already read the body
   */
  stream(limit: number): AsyncIterable<Uint8Array> | undefined {
    const request = this.#request
    if (request.bodyUsed)
      throw new TypeError('the host has already read the body of this request: pass a clone made before reading')
    if (Number(request.headers.get('content-length')) > limit) throw bodyTooLarge(limit)
    return request.body === null ? undefined : limited(chunksOf(request.body), limit, () => this.clientGone())
  }

  get signal(): AbortSignal {
    return this.#gone?.signal ?? this.#request.signal
  }

  /** Aborts the signal, which not every runtime does, and returns the reason. */
  clientGone(): unknown {
    this.#gone ??= new AbortController()
    this.#gone.abort()
    return this.#gone.signal.reason
  }
}

type Body = NonNullable<Request['body']>

/**
 * The chunks of a body. What is not read of it is discarded. If it were cancelled, the server would close the
 * connection, and a client that sends its whole request before it reads would never see the response.
 */
async function* chunksOf(body: Body): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body.values({ preventCancel: true })
  } finally {
    void discard(body)
  }
}

/** Never rejects: the response does not depend on it. */
async function discard(body: Body): Promise<void> {
  try {
    let size = 0
    for await (const chunk of body) {
      size += chunk.length
      if (size > MAX_DISCARDED_BYTES) return // cancels the body
    }
  } catch {
    // The client has disconnected.
  }
}
