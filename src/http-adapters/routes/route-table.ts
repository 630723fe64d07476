import type { ServiceName } from '../../core/services.ts'
import { badgeRoutes } from './badges/badge-routes.ts'
import { blockRoutes } from './blocks/block-routes.ts'
import { exchangeRoutes } from './exchange/exchange-routes.ts'
import { pinRoutes } from './pins/pin-routes.ts'
import type { Route, ServiceRoutes } from './route.ts'
import { signingKeyRoutes } from './signing-keys/signing-key-routes.ts'

/** The routes of each service, with the port methods that they call. */
export type RoutesByService = {
  readonly 'signing-keys': typeof signingKeyRoutes
  readonly pins: typeof pinRoutes
  readonly blocks: typeof blockRoutes
  readonly badges: typeof badgeRoutes
  readonly exchange: typeof exchangeRoutes
}

/** The routes of each service, in the order of the specified interface. */
export const serviceRoutes: RoutesByService = {
  'signing-keys': signingKeyRoutes,
  pins: pinRoutes,
  blocks: blockRoutes,
  badges: badgeRoutes,
  exchange: exchangeRoutes,
} satisfies Record<ServiceName, ServiceRoutes>

/** Every route of every service. */
export const routeTable: readonly Route[] = Object.values(serviceRoutes).flatMap(({ routes }) => routes)
