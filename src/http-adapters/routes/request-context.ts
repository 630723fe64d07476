import type { UnguardedServices } from '../../core/forge.ts'
import type { ObservedRequest } from '../../core/observer.ts'
import type { Actor, Caller, Logger, PortContext } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import type { FilledApiLimits } from './limits.ts'
import type { ApiRequest } from './messages.ts'
import type { Directory, IssueDocuments, Presenter } from './ports.ts'
import type { Routed, RouteMatch } from './router.ts'
import type { ExchangeSlots } from './slots.ts'

/** How callers authenticate: with a token in a header, or with a session that they have signed in to (a cookie). */
export type CredentialKind = 'token' | 'session'

/** The checked options of an API, with every default filled in. */
export interface Settings<A extends Actor> {
  readonly directory: Directory<A>
  readonly present: Presenter<A>
  readonly logger: Logger
  readonly newId: () => string
  readonly observe: ((request: ObservedRequest) => void) | undefined
  /** Has no trailing slash. */
  readonly publicUrl: string | undefined
  /** `""` if unknown. */
  readonly docsUrl: string
  readonly credentials: CredentialKind
  readonly services: ReadonlySet<ServiceName>
  /** Defined if the API has the service `exchange`. */
  readonly documents: IssueDocuments | undefined
  readonly limits: FilledApiLimits
}

/** One request to a route, from a known caller. */
export interface RequestContext<A extends Actor> {
  readonly request: ApiRequest
  readonly actor: Caller<A>
  readonly operations: UnguardedServices<A>
  readonly settings: Settings<A>
  readonly slots: ExchangeSlots
  /** For ports, and for service methods as their options. */
  readonly context: PortContext<Caller<A>, unknown>
  /** The route, and the parameters in its path. */
  readonly match: RouteMatch<Routed>
}

/** Builds the context that ports and services receive. It reads the request's signal only when one of them needs it. */
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
