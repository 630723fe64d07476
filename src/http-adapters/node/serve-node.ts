import type { Actor, Api } from '../routes/api.ts'
import type { Authenticate, DispatchOptions } from '../routes/dispatch.ts'
import type { NeutralReply, NeutralRequest } from '../routes/neutral.ts'
import type { Target } from '../routes/target.ts'
import { NodeExchange } from './node-exchange.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import { writeReply } from './node-reply.ts'

/** One request on its way through a Node server. */
export interface NodeVisit<A extends Actor> {
  readonly request: NodeRequest
  readonly response: NodeResponse
  /** The host's way on, for paths that are not ours; undefined: we answer those too. */
  readonly next: (() => void) | undefined
  /** Undefined: not below the mount point. */
  readonly target: Target | undefined
  readonly authenticate: Authenticate<A>
  readonly options: DispatchOptions
}

/** Answers one request, or lets the host go on. Never throws; nothing it starts rejects. */
export function serveNode<A extends Actor>(api: Api<A>, visit: NodeVisit<A>): void {
  const { request, response, next, target, authenticate, options } = visit
  if (response.headersSent || response.writableEnded) return

  const exchange = new NodeExchange(request, response, target ?? { path: '/', query: '' })
  const reply = target === undefined ? undefined : api.dispatch(exchange, authenticate, options)
  const finish = (settled: NeutralReply | undefined): void => {
    if (settled === undefined && next !== undefined) next()
    else write(api, exchange, visit, settled ?? api.unmatched(exchange))
  }
  if (reply === undefined || !('then' in reply)) finish(reply)
  else reply.then(finish)
}

/** A reply that cannot be written, for example with a header that is not allowed, becomes a 500; if that fails too, the end. */
function write<A extends Actor>(
  api: Api<A>,
  exchange: NeutralRequest,
  { request, response }: NodeVisit<A>,
  reply: NeutralReply,
): void {
  try {
    writeReply(request, response, reply)
  } catch (error) {
    writeFailure(request, response, api.failed(exchange, error))
  }
}

function writeFailure(request: NodeRequest, response: NodeResponse, reply: NeutralReply): void {
  try {
    writeReply(request, response, reply)
  } catch {
    response.destroy?.()
  }
}
