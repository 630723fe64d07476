import type { Actor } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import { isObject, need } from '../../schema/arguments.ts'
import { badgeRoutes } from './badges.ts'
import { blockRoutes } from './blocks.ts'
import { exchangeRoutes } from './exchange.ts'
import { pinRoutes } from './pins.ts'
import type { Directory, Presenter } from './ports.ts'
import type { Route } from './route.ts'
import { signingKeyRoutes } from './signing-keys.ts'

/** Every route of every service, in the order of the OpenAPI document. */
export const routeTable: readonly Route[] = Object.values({
  'signing-keys': signingKeyRoutes,
  pins: pinRoutes,
  blocks: blockRoutes,
  badges: badgeRoutes,
  exchange: exchangeRoutes,
} satisfies Record<ServiceName, readonly Route[]>).flat()

/** The methods of the ports that the routes of each service call. A host of the service must have them. */
const NEEDS = {
  'signing-keys': { directory: ['findRepository'], present: [] },
  pins: { directory: ['findRepository', 'findIssue'], present: ['issues', 'pullRequests'] },
  blocks: { directory: ['findAccount'], present: ['users'] },
  badges: { directory: ['findAccount'], present: [] },
  exchange: { directory: ['findRepository'], present: [] },
} as const

/** The names of methods, by port. */
interface PortMethods {
  readonly directory: readonly (keyof Directory<Actor>)[]
  readonly present: readonly (keyof Presenter<Actor>)[]
}

/** The methods of a port that the routes of some services call. */
type Needed<S extends ServiceName, P extends 'directory' | 'present'> = (typeof NEEDS)[S][P][number]

/** A list with the properties of `T`, of which those in `K` are required. */
type Requiring<T, K extends keyof T> = Pick<T, K> & { readonly [P in keyof T]?: T[P] | undefined }

/** The ports that have at least one needed method. */
type NeededPort<S extends ServiceName> = {
  readonly [P in 'directory' | 'present']: [Needed<S, P>] extends [never] ? never : P
}['directory' | 'present']

/**
 * The ports of an API: all methods of the directory and the presenter are known, and those that the services `S` call
 * are required. Source: docs/manual/05-mount-it.md
 */
export type ApiPorts<A extends Actor, S extends ServiceName = ServiceName> = Requiring<
  {
    /** Resolves the names in paths to references. */
    readonly directory: Requiring<Directory<A>, Needed<S, 'directory'>>
    /** Turns ids into the JSON objects of responses. */
    readonly present: Requiring<Presenter<A>, Needed<S, 'present'>>
  },
  NeededPort<S>
>

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
export function checkPorts<A extends Actor>(
  ports: UncheckedPorts,
  services: readonly ServiceName[],
): { readonly directory: Directory<A>; readonly present: Presenter<A> } {
  const needs: Readonly<Record<ServiceName, PortMethods>> = NEEDS
  for (const service of services) {
    for (const port of ['directory', 'present'] as const) {
      for (const method of needs[service][port]) {
        const given = ports[port]
        const isMethod = isObject(given) && typeof Reflect.get(given, method) === 'function'
        need(isMethod, 'createApi', `${port}.${method}`, `a function, for the service ${service}`)
      }
    }
  }
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: what a mounted route calls was checked above
  return ports as { readonly directory: Directory<A>; readonly present: Presenter<A> }
}
