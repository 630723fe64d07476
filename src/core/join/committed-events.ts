import type { ForgeEvent } from '../../schema/events.ts'
import { isPromise } from '../../schema/steps.ts'
import type { Environment } from '../environment.ts'
import type { Announcer } from '../events/announcer.ts'
import type { Actor } from '../ports.ts'

/** The events that a join wrote in the host's transaction: told to listeners once they are found committed. */
export class CommittedEvents<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>
  readonly #announcer: Announcer
  readonly #written: ForgeEvent[] = []

  constructor(environment: Environment<A, Tx>, announcer: Announcer) {
    this.#environment = environment
    this.#announcer = announcer
  }

  /** Takes the events of a change. */
  add(events: readonly ForgeEvent[]): void {
    this.#written.push(...events)
  }

  /** Announces what is found committed and not yet announced; the rest may be asked about again. Never throws. */
  announce(): void {
    if (this.#written.length === 0) return

    try {
      const found = this.#environment.storage.events.committed(this.#written.map((event) => event.id))
      if (isPromise(found)) this.#announcer.announceLater(found.then((stored) => this.#take(stored)))
      else this.#announcer.announce(this.#take(found))
    } catch (error) {
      this.#announcer.lost(error)
    }
  }

  /** Removes what is found committed from what was written, and gives it. */
  #take(stored: readonly ForgeEvent[]): readonly ForgeEvent[] {
    const committed = this.#written.filter((event) => stored.some((other) => isSame(event, other)))
    for (const event of committed) this.#written.splice(this.#written.indexOf(event), 1)
    return committed
  }
}

/** The id alone does not tell: after a rollback another event may have been given it. */
function isSame(one: ForgeEvent, other: ForgeEvent): boolean {
  return essence(one) === essence(other)
}

function essence(event: ForgeEvent): string {
  const { id, type, version, at, actorId, organizationId, repositoryId, issueId, userId, data } = event
  const named = Object.entries(data).sort(([left], [right]) => (left < right ? -1 : 1))
  return JSON.stringify([id, type, version, at, actorId, organizationId, repositoryId, issueId, userId, named])
}
