import type { Operations } from '../../core/forge.ts'
import type { Actor, Asker } from '../../core/ports.ts'
import { toId } from '../../schema/ids.ts'
import type { MaybePromise, Steps } from '../../schema/steps.ts'
import { run, wait } from '../../schema/steps.ts'
import { refuseCrossSite } from './cross-site.ts'
import type { Exchange } from './exchange.ts'
import { contextOf } from './exchange.ts'
import { Failures } from './failures.ts'
import type { NeutralReply, NeutralRequest } from './neutral.ts'
import { isNothing } from './nothing.ts'
import { errorReply, optionsReply, withoutBody } from './reply.ts'
import type { Route } from './route.ts'
import { routeTable } from './route-table.ts'
import type { Match } from './router.ts'
import { Router } from './router.ts'
import type { Settings } from './settings.ts'

/** Whom the host's `authenticate` found: null is nobody. */
export type Authenticate<A extends Actor> = () => MaybePromise<A | null>

/** What a mount says of its requests. */
export interface DispatchOptions {
  /** Whether unsafe requests that a browser sends for another site, without `Authorization`, are refused. Default 'refuse'. */
  readonly crossSite?: 'refuse' | 'allow' | undefined
}

/** The way of a request through the routes: match, refuse, authenticate, then the row itself. Never throws. */
export class Dispatcher<A extends Actor> {
  readonly #operations: Operations<A>
  readonly #settings: Settings<A>
  readonly #router: Router<Route>
  readonly #failures: Failures

  constructor(operations: Operations<A>, settings: Settings<A>) {
    this.#operations = operations
    this.#settings = settings
    this.#router = new Router(routeTable.filter((row) => settings.services.has(row.service)))
    this.#failures = new Failures(settings)
  }

  /** Undefined: not one of our paths. */
  dispatch(
    request: NeutralRequest,
    authenticate: Authenticate<A>,
    options: DispatchOptions = {},
  ): MaybePromise<NeutralReply | undefined> {
    const match = this.#router.match(request.method, request.path)
    if (match === undefined) return undefined
    if (match.kind !== 'route') return forMethod(request, refusal(match))

    return run(this.#answer(request, match, authenticate, options))
  }

  unmatched(request: NeutralRequest): NeutralReply {
    return forMethod(request, refusal({ kind: 'malformed' }))
  }

  failed(request: NeutralRequest, error: unknown): NeutralReply {
    return forMethod(request, this.#failures.reply(error, { request }))
  }

  *#answer(
    request: NeutralRequest,
    { route, parameter }: Match<Route> & { readonly kind: 'route' },
    authenticate: Authenticate<A>,
    { crossSite = 'refuse' }: DispatchOptions,
  ): Steps<NeutralReply> {
    try {
      if (crossSite === 'refuse') refuseCrossSite(request, this.#settings.publicUrl)
      const actor = toAsker(yield* wait(authenticate()))
      return forMethod(request, yield* route.answer(this.#exchange(request, actor, parameter)))
    } catch (error) {
      return forMethod(request, this.#failures.reply(error, { request, operationId: route.operationId }))
    }
  }

  #exchange(request: NeutralRequest, actor: Asker<A>, parameter: (name: string) => string): Exchange<A> {
    return {
      request,
      actor,
      parameter,
      operations: this.#operations,
      settings: this.#settings,
      context: contextOf(request, actor),
    }
  }
}

function forMethod(request: NeutralRequest, reply: NeutralReply): NeutralReply {
  return request.method === 'HEAD' ? withoutBody(reply) : reply
}

function refusal(match: Exclude<Match<Route>, { readonly kind: 'route' }>): NeutralReply {
  switch (match.kind) {
    case 'options':
      return optionsReply(match.allow)
    case 'wrong-method':
      return errorReply('METHOD_NOT_ALLOWED', 'method not allowed', { headers: [['Allow', match.allow]] })
    case 'malformed':
      return errorReply('ROUTE_NOT_FOUND', 'not found')
  }
}

/** JavaScript hosts may give undefined for nobody; what is neither nobody nor an object with an id, 'system' above all, is refused. */
function toAsker<A extends Actor>(actor: A | null | undefined): Asker<A> {
  if (isNothing(actor)) return 'anonymous'
  if (typeof actor !== 'object') throw new TypeError('authenticate must give an object with an id, or null')

  toId(actor.id, 'actor.id')
  return actor
}
