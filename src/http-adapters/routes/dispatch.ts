import type { UnguardedServices } from '../../core/forge.ts'
import type { Actor, Caller } from '../../core/ports.ts'
import { toId } from '../../schema/ids.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after, settle } from '../../schema/sync-or-async.ts'
import { refuseCrossSite } from './cross-site.ts'
import { ErrorResponder } from './error-responder.ts'
import type { ApiRequest, ApiResponse, TextResponse } from './messages.ts'
import { isNil } from './ports.ts'
import { errorReply, optionsReply, withoutBody } from './reply.ts'
import type { RequestContext, Settings } from './request-context.ts'
import { contextOf } from './request-context.ts'
import type { RequestObserver } from './request-observer.ts'
import { requestObserver } from './request-observer.ts'
import type { Route } from './route.ts'
import { routeTable } from './route-table.ts'
import type { Match, RouteMatch } from './router.ts'
import { Router } from './router.ts'
import type { ExchangeSlots } from './slots.ts'
import { exchangeSlots } from './slots.ts'

/** Runs the host's `authenticate`. Returns the caller's actor, or null for an anonymous caller. */
export type Authenticate<A extends Actor> = () => MaybePromise<A | null>

/** Options that a mount passes with each request. */
export interface DispatchOptions {
  /**
   * Whether the API refuses unsafe requests that a browser sends for another site, unless their `Authorization` has the
   * scheme `Bearer` or `token`. Default: `'refuse'`. Source: docs/behaviour.md, Over HTTP
   */
  readonly crossSite?: 'refuse' | 'allow' | undefined
}

/** A match that no operation answers. */
type Refused =
  | Exclude<Match<Route>, RouteMatch<Route>>
  /** A path that the API does not have. */
  | { readonly kind: 'malformed'; readonly path: undefined }

/**
 * Takes a request through the routes: it matches the path, refuses cross-site requests, authenticates the caller and
 * runs the route. Never throws.
 */
export class Dispatcher<A extends Actor> {
  readonly #operations: UnguardedServices<A>
  readonly #settings: Settings<A>
  readonly #slots: ExchangeSlots
  readonly #router: Router<Route>
  readonly #failures: ErrorResponder
  readonly #observer: RequestObserver | undefined

  constructor(operations: UnguardedServices<A>, settings: Settings<A>) {
    this.#operations = operations
    this.#settings = settings
    this.#slots = exchangeSlots(settings.limits)
    this.#router = new Router(routeTable.filter((row) => settings.services.has(row.service)))
    this.#failures = new ErrorResponder(settings)
    this.#observer = settings.observe && requestObserver(settings.observe)
  }

  /** Returns `undefined` for a path that the API does not have. */
  dispatch(
    request: ApiRequest,
    authenticate: Authenticate<A>,
    options: DispatchOptions = {},
  ): MaybePromise<ApiResponse | undefined> {
    const match = this.#router.match(request.method, request.path)
    if (match === undefined) return undefined
    if (match.kind !== 'route') return this.#refuse(request, match)

    return this.#answer(request, match, authenticate, options)
  }

  unmatched(request: ApiRequest): TextResponse {
    return this.#refuse(request, { kind: 'malformed', path: undefined })
  }

  failed(request: ApiRequest, error: unknown): TextResponse {
    return forMethod(request, this.#failures.reply(error, { request }))
  }

  #answer(
    request: ApiRequest,
    match: RouteMatch<Route>,
    authenticate: Authenticate<A>,
    { crossSite }: DispatchOptions,
  ): MaybePromise<ApiResponse> {
    const { route } = match
    const observed = this.#observer?.(request, route)
    const finish = (reply: ApiResponse): ApiResponse => {
      observed?.(reply)
      return forMethod(request, reply)
    }
    return settle(
      () => {
        if (crossSite !== 'allow') refuseCrossSite(request, this.#settings.publicUrl)
        return after(authenticate(), (actor) => route.answer(this.#requestContext(request, toCaller(actor), match)))
      },
      finish,
      (error) => finish(this.#failures.reply(error, { request, operationId: route.operationId })),
    )
  }

  #refuse(request: ApiRequest, refused: Refused): TextResponse {
    const observed = this.#observer?.(request, { path: refused.path })
    const reply = refusal(refused, this.#settings)
    observed?.(reply)
    return forMethod(request, reply)
  }

  #requestContext(request: ApiRequest, actor: Caller<A>, match: RouteMatch<Route>): RequestContext<A> {
    return {
      request,
      actor,
      match,
      operations: this.#operations,
      settings: this.#settings,
      slots: this.#slots,
      context: contextOf(request, actor),
    }
  }
}

function forMethod(request: ApiRequest, reply: TextResponse): TextResponse
function forMethod(request: ApiRequest, reply: ApiResponse): ApiResponse
function forMethod(request: ApiRequest, reply: ApiResponse): ApiResponse {
  return request.method === 'HEAD' ? withoutBody(reply) : reply
}

function refusal(match: Refused, { docsUrl }: Pick<Settings<never>, 'docsUrl'>): TextResponse {
  switch (match.kind) {
    case 'options':
      return optionsReply(match.allow)
    case 'wrong-method':
      return errorReply('METHOD_NOT_ALLOWED', 'method not allowed', { docsUrl, headers: [['Allow', match.allow]] })
    case 'malformed':
      return errorReply('ROUTE_NOT_FOUND', 'not found', { docsUrl })
  }
}

/**
 * Hosts in JavaScript may return undefined for an anonymous caller. Any other value that is not an object with an id,
 * above all `'system'`, is refused.
 */
function toCaller<A extends Actor>(actor: A | null | undefined): Caller<A> {
  if (isNil(actor)) return 'anonymous'
  if (typeof actor !== 'object') throw new TypeError('authenticate must return an object with an id, or null')

  toId(actor.id, 'actor.id')
  return actor
}
