import { badgeRoutes } from './badge-routes.ts'
import { blockRoutes } from './block-routes.ts'
import { pinRoutes } from './pin-routes.ts'
import type { Route } from './route.ts'
import { signingKeyRoutes } from './signing-key-routes.ts'

/** Every route there is: the seventeen rows of the specified interface. */
export const routeTable: readonly Route[] = [...signingKeyRoutes, ...pinRoutes, ...blockRoutes, ...badgeRoutes]
