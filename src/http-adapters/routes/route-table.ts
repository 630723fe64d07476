import { badgeRoutes } from './badges/badge-routes.ts'
import { blockRoutes } from './blocks/block-routes.ts'
import { pinRoutes } from './pins/pin-routes.ts'
import type { Route } from './route.ts'
import { signingKeyRoutes } from './signing-keys/signing-key-routes.ts'

/** Every route: the seventeen rows of the specified interface. */
export const routeTable: readonly Route[] = [...signingKeyRoutes, ...pinRoutes, ...blockRoutes, ...badgeRoutes]
