import type { Actor } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import { hasMethods, need } from '../../schema/arguments.ts'
import { badgeRoutes } from './badges.ts'
import { blockRoutes, forgejoBlockRoutes } from './blocks.ts'
import { exchangeRoutes } from './exchange.ts'
import { pinRoutes } from './pins.ts'
import type { Directory, Presenter } from './ports.ts'
import type { Route } from './route.ts'
import { forgejoKeyRoute, signingKeyRoutes } from './signing-keys.ts'

/** Every route of every service, in the order of the OpenAPI document. */
export const routeTable: readonly Route[] = Object.values({
  'signing-keys': signingKeyRoutes,
  pins: pinRoutes,
  blocks: blockRoutes,
  badges: badgeRoutes,
  exchange: exchangeRoutes,
} satisfies Record<ServiceName, readonly Route[]>).flat()

/** The routes of Forgejo's paths, which an API has with `forgejoPaths`, and the OpenAPI document has not. */
export const forgejoRoutes: readonly Route[] = [...forgejoBlockRoutes, forgejoKeyRoute]

/** The methods of the ports that the routes of each service call. A host of the service must have them. */
const NEEDS = {
  'signing-keys': { directory: ['findRepository'], present: [] },
  pins: { directory: ['findRepository', 'findIssue'], present: ['issues'] },
  blocks: { directory: ['findAccount'], present: ['users'] },
  badges: { directory: ['findAccount'], present: [] },
  exchange: { directory: ['findRepository'], present: [] },
} as const

/** The names of methods, by port. */
interface PortMethods {
  readonly directory: readonly (keyof Directory<Actor>)[]
  readonly present: readonly (keyof Presenter<Actor>)[]
}

/** The ports of an API. */
interface AllPorts<A extends Actor> {
  /** Resolves the names in paths to references. */
  readonly directory: Directory<A, never>
  /** Turns ids into the JSON objects of responses. */
  readonly present: Presenter<A, never>
}

/** The methods of a port that services call. */
type Needed<S extends ServiceName, P extends keyof PortMethods> = (typeof NEEDS)[S & keyof typeof NEEDS][P][number]

/** A port under its name, if services call methods of it: these are there, and its others may be. */
type Port<P extends keyof AllPorts<Actor>, T, K extends keyof T> = [K] extends [never]
  ? { readonly [Name in P]?: Partial<T> }
  : { readonly [Name in P]: Partial<T> & Pick<T, K> }

/**
 * The ports of an API, with the methods that its services call: `createApi` checks them too, for hosts in JavaScript.
 * Source: docs/manual/05-mount-it.md
 */
export type ApiPorts<A extends Actor, S extends ServiceName = ServiceName> = ServiceName extends S
  ? AllPorts<A>
  : Port<'directory', Directory<A, never>, Needed<S, 'directory'>> &
      Port<'present', Presenter<A, never>, Needed<S, 'present'>>

/** The ports as a host in JavaScript may give them. */
export interface UncheckedPorts {
  readonly directory?: unknown
  readonly present?: unknown
}

/**
 * Checks that the ports have the methods that the services call.
 *
 * @returns the ports, as if they had every method: the routes of the other services are not mounted
 * @throws TypeError naming the missing method and the service that needs it
 */
export function checkPorts(ports: UncheckedPorts, services: readonly ServiceName[]): AllPorts<Actor> {
  const needs: Readonly<Record<ServiceName, PortMethods>> = NEEDS
  for (const service of services) {
    for (const port of ['directory', 'present'] as const) {
      for (const method of needs[service][port]) {
        const isThere = hasMethods(ports[port], method)
        need(isThere, 'createApi', `${port}.${method}`, `a function, for the service ${service}`)
      }
    }
  }
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: what a mounted route calls was checked above
  return ports as AllPorts<Actor>
}
