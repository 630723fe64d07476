import type { ServiceName } from '../../core/services.ts'
import { badgeRoutes } from './badges.ts'
import { blockRoutes, forgejoBlockRoutes } from './blocks.ts'
import { exchangeRoutes } from './exchange.ts'
import { pinRoutes } from './pins.ts'
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
