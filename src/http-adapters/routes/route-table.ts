import type { ServiceName } from '../../core/services.ts'
import { badgeRoutes } from './badges.ts'
import { blockRoutes } from './blocks.ts'
import { exchangeRoutes } from './exchange.ts'
import { pinRoutes } from './pins.ts'
import type { Route } from './route.ts'
import { signingKeyRoutes } from './signing-keys.ts'

/** Every route of every service, in the order of the specified interface. */
export const routeTable: readonly Route[] = Object.values({
  'signing-keys': signingKeyRoutes,
  pins: pinRoutes,
  blocks: blockRoutes,
  badges: badgeRoutes,
  exchange: exchangeRoutes,
} satisfies Record<ServiceName, readonly Route[]>).flat()
