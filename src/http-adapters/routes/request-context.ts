import type { UnguardedServices } from '../../core/forge.ts'
import type { Actor, Caller, PortContext } from '../../core/ports.ts'
import type { ApiRequest } from './messages.ts'
import type { Settings } from './settings.ts'

/** One request of a known caller on its way through its route. */
export interface RequestContext<A extends Actor> {
  readonly request: ApiRequest
  readonly actor: Caller<A>
  readonly operations: UnguardedServices<A>
  readonly settings: Settings<A>
  /** For ports, and for operations as their options. */
  readonly context: PortContext<Caller<A>, unknown>
  /** A parameter of the path, decoded. */
  parameter(name: string): string
}

/** What ports are told of a request. Its signal is made when somebody looks at it. */
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
