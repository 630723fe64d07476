import type { UnguardedServices } from '../../core/forge.ts'
import type { Actor, Caller, PortContext } from '../../core/ports.ts'
import type { ApiRequest } from './messages.ts'
import type { Route } from './route.ts'
import type { RouteMatch } from './router.ts'
import type { Settings } from './settings.ts'

/** One request to a route, from a known caller. */
export interface RequestContext<A extends Actor> {
  readonly request: ApiRequest
  readonly actor: Caller<A>
  readonly operations: UnguardedServices<A>
  readonly settings: Settings<A>
  /** For ports, and for service methods as their options. */
  readonly context: PortContext<Caller<A>, unknown>
  /** The route, and the parameters in its path. */
  readonly match: RouteMatch<Route>
}

/** Builds the context that ports receive. It reads the request's signal only when a port does. */
export function contextOf<A extends Actor>(request: ApiRequest, actor: Caller<A>): PortContext<Caller<A>, unknown> {
  return new RequestPortContext(request, actor)
}

class RequestPortContext<Who> implements PortContext<Who, unknown> {
  readonly actor: Who
  readonly #request: ApiRequest

  constructor(request: ApiRequest, actor: Who) {
    this.actor = actor
    this.#request = request
  }

  get signal(): AbortSignal | undefined {
    return this.#request.signal
  }
}
