import type { NodeRequest, NodeResponse } from './node/node-messages.ts'
import { serveNode } from './node/serve-node.ts'
import type { Actor, Api } from './routes/create-api.ts'
import { parseTarget } from './routes/messages.ts'
import type { MountOptions } from './routes/mount-options.ts'
import { checkMount } from './routes/mount-options.ts'

export type { NodeRequest, NodeResponse, ResettableSocket } from './node/node-messages.ts'
export type { Actor, Api } from './routes/create-api.ts'
export type { MountOptions } from './routes/mount-options.ts'

/** Options for mounting an API in Express. `app.use` sets the mount point. */
export type ExpressMountOptions<A extends Actor, Req extends NodeRequest> = MountOptions<A, readonly [request: Req]>

/** A middleware for Express 4 and 5. */
export type ExpressHandler<Req extends NodeRequest> = (
  request: Req,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Mounts an API in an Express 4 or 5 application or router:
 * `app.use('/api/v1', expressHandler(api, { authenticate }))`. The handler works before and after body parsers.
 * Requests for paths that the API does not have go to `next()`. Source: docs/mounting.md
 *
 * @throws TypeError when an option is missing or invalid
 */
export function expressHandler<A extends Actor, Req extends NodeRequest = NodeRequest>(
  api: Api<A>,
  options: ExpressMountOptions<NoInfer<A>, Req>,
): ExpressHandler<Req> {
  checkMount('expressHandler', api, options)
  const { authenticate, crossSite } = options
  const mount = { api, options: { authenticate, crossSite } }

  return (request, response, next) =>
    serveNode(mount, { request, response, next, target: parseTarget(request.url ?? '/') })
}
