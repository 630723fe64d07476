import type { UnguardedServices } from '../../core/forge.ts'
import type { Actor, Caller, PortContext } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'
import type { Match, Method, Routed } from './router.ts'
import type { Settings } from './settings.ts'
import type { ExchangeSlots } from './slots.ts'

/** One operation of the API. */
export interface Route extends Routed {
  /** As in Gitea's API document. */
  readonly operationId: string
  readonly service: ServiceName
  /**
   * Answers a request. It resolves the names in the path and asks the policy once, reads the other parameters, calls one
   * method of the service, and writes the result. The first check that fails determines the response.
   */
  answer(r: RouteRequest): SyncOrAsync<ApiResponse>
}

/** One request to a route, from a known caller. */
export interface RouteRequest {
  readonly request: ApiRequest
  readonly actor: Caller<Actor>
  /** The path that was found, with the values of its parameters. */
  readonly match: Match<Routed>
  readonly operations: UnguardedServices
  readonly settings: Settings
  readonly slots: ExchangeSlots
  /** For ports, and for service methods as their options. */
  readonly context: RequestContext
}

/** Creates a route. @param template - the method and the path, with parameters in braces: `GET /orgs/{org}/blocks` */
export function route(
  service: ServiceName,
  operationId: string,
  template: `${Method} /${string}`,
  answer: Route['answer'],
): Route {
  const [method, path = ''] = template.split(' ')
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the type of the parameter says that it begins with a method
  return { service, operationId, method: method as Method, path, answer }
}

/** The context that ports and services receive. It reads the request's signal only when one of them needs it. */
export class RequestContext implements PortContext<Caller<Actor>, unknown> {
  readonly actor: Caller<Actor>
  /** Of the host: none is open during a request. */
  readonly transaction = undefined
  /** What the directory returned for the repository in the path, once it was found. */
  repository: object | undefined
  readonly #request: ApiRequest

  constructor(request: ApiRequest, actor: Caller<Actor>) {
    this.actor = actor
    this.#request = request
  }

  get signal(): AbortSignal | undefined {
    return this.#request.signal
  }
}
