import type { Operations } from '../../core/forge.ts'
import type { Actor, Asker, PortContext } from '../../core/ports.ts'
import type { NeutralRequest } from './messages.ts'
import type { Settings } from './settings.ts'

/** One request of a known caller on its way through its route. */
export interface Exchange<A extends Actor> {
  readonly request: NeutralRequest
  readonly actor: Asker<A>
  readonly operations: Operations<A>
  readonly settings: Settings<A>
  /** For ports, and for operations as their options. */
  readonly context: PortContext<Asker<A>, unknown>
  /** A parameter of the path, decoded. */
  parameter(name: string): string
}

/** What ports are told of a request. Its signal is made when somebody looks at it. */
export function contextOf<A extends Actor>(request: NeutralRequest, actor: Asker<A>): PortContext<Asker<A>, unknown> {
  return new RequestContext(request, actor)
}

class RequestContext<Who> implements PortContext<Who, unknown> {
  readonly actor: Who
  readonly #request: NeutralRequest

  constructor(request: NeutralRequest, actor: Who) {
    this.actor = actor
    this.#request = request
  }

  get signal(): AbortSignal | undefined {
    return this.#request.signal
  }
}
