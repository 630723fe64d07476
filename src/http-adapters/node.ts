import type { NodeRequest, NodeResponse } from './node/node-messages.ts'
import { serveNode } from './node/serve-node.ts'
import type { Actor, Api } from './routes/create-api.ts'
import { below, parseTarget, toBase } from './routes/messages.ts'
import type { MountOptions } from './routes/mount-options.ts'
import { checkMount } from './routes/mount-options.ts'

export type { NodeRequest, NodeResponse } from './node/node-messages.ts'
export type { Actor, Api } from './routes/create-api.ts'
export type { MountOptions } from './routes/mount-options.ts'

/** How an API is mounted on a Node server. */
export interface NodeMountOptions<A extends Actor, Req extends NodeRequest>
  extends MountOptions<A, readonly [request: Req]> {
  /** Where the API is, when nobody has stripped it from the address: `/api/v1`. Default: at the root. */
  readonly basePath?: `/${string}` | undefined
}

/** A listener for `node:http`, or a middleware where `next` is given: it is called for paths that are not ours. */
export type NodeHandler<Req extends NodeRequest> = (
  request: Req,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => void

/**
 * Mounts an API on a Node server: `createServer(nodeHandler(api, { authenticate, basePath: '/api/v1' }))`, or as a middleware
 * of Connect and of Fastify (with middie), whose `use` has stripped the mount point: `use('/api/v1', nodeHandler(api,
 * { authenticate }))`. Paths that are not ours go to `next` when it is given, else they are answered with 404.
 * Source: docs/mounting.md
 *
 * @throws TypeError when an option is missing or is not what it should be
 */
export function nodeHandler<A extends Actor, Req extends NodeRequest = NodeRequest>(
  api: Api<A>,
  options: NodeMountOptions<NoInfer<A>, Req>,
): NodeHandler<Req> {
  checkMount('nodeHandler', api, options)
  const { authenticate, crossSite } = options
  const base = toBase(options.basePath)

  return (request, response, next) =>
    serveNode(api, {
      request,
      response,
      next: next === undefined ? undefined : () => next(),
      target: below(base, parseTarget(request.url ?? '/')),
      authenticate: () => authenticate(request),
      options: { crossSite },
    })
}
