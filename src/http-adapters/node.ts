import type { NodeRequest, NodeResponse } from './node/node-messages.ts'
import { serveNode } from './node/serve-node.ts'
import type { Actor, Api } from './routes/create-api.ts'
import { below, parseTarget, toBase } from './routes/messages.ts'
import type { MountOptions } from './routes/mount-options.ts'
import { checkMount } from './routes/mount-options.ts'

export type { NodeRequest, NodeResponse, ResettableSocket } from './node/node-messages.ts'
export type { Actor, Api } from './routes/create-api.ts'
export type { MountOptions } from './routes/mount-options.ts'

/** Options for mounting an API on a Node server. */
export interface NodeMountOptions<A extends Actor, Req extends NodeRequest>
  extends MountOptions<A, readonly [request: Req]> {
  /**
   * The path at which the API is mounted, for example `/api/v1`. Set it unless the server or framework strips this
   * prefix from the URL. Default: the root.
   */
  readonly basePath?: `/${string}` | undefined
}

/**
 * A listener for `node:http`. With `next` it is a middleware, which calls `next` for paths that the API does not have.
 */
export type NodeHandler<Req extends NodeRequest> = (
  request: Req,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => void

/**
 * Mounts an API on a Node server: `createServer(nodeHandler(api, { authenticate, basePath: '/api/v1' }))`. The handler
 * is also a middleware for Express 4 and 5, for Connect, and for Fastify (with middie), before and after body parsers.
 * Their `use` strips the mount point: `use('/api/v1', nodeHandler(api, { authenticate }))`. Requests for paths that the
 * API does not have go to `next` when it is given; otherwise they are answered with 404. `forgelet/express` has this
 * function as `expressHandler`. Source: docs/manual/05-mount-it.md
 *
 * @throws TypeError when an option is missing or invalid
 */
export function nodeHandler<A extends Actor, Req extends NodeRequest = NodeRequest>(
  api: Api<A>,
  options: NodeMountOptions<NoInfer<A>, Req>,
): NodeHandler<Req> {
  checkMount('nodeHandler', api, options)
  const { authenticate, crossSite } = options
  const mount = { api, options: { authenticate, crossSite } }
  const base = toBase(options.basePath)

  return (request, response, next) =>
    serveNode(mount, { request, response, next, target: below(base, parseTarget(request.url ?? '/')) })
}
