import type { Environment } from '../environment.ts'
import type { Announcer } from '../events/announcer.ts'
import type { Actor } from '../ports.ts'
import type { ServiceRooms } from '../service-rooms.ts'

/** What a join works with. */
export interface JoinParts<A extends Actor, Tx> {
  readonly environment: Environment<A, Tx>
  readonly announcer: Announcer
  readonly rooms: ServiceRooms<A, Tx>
}
