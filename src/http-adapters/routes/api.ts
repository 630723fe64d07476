import type { Actor } from '../../core/ports.ts'
import type { MaybePromise } from '../../schema/steps.ts'
import type { Authenticate, DispatchOptions } from './dispatch.ts'
import type { NeutralReply, NeutralRequest } from './neutral.ts'
import type { OpenApiDocument } from './openapi/document-parts.ts'

export type { Actor } from '../../core/ports.ts'

/** The route table bound to one forge: what every adapter mounts. */
export interface Api<A extends Actor> {
  /**
   * The OpenAPI 3.1 document of what is mounted: every operation, every reply, every error. A new object each time, of plain
   * JSON, for the host to serve or to change. Source: docs/openapi.md
   */
  openApi(): OpenApiDocument
  /**
   * For adapters: answers a request, at once where ports and storage do. Never throws, never rejects: what fails is a reply.
   *
   * @param authenticate - called only for routes of ours, before anything else is looked up
   * @returns undefined: not one of our paths
   */
  dispatch(
    request: NeutralRequest,
    authenticate: Authenticate<A>,
    options?: DispatchOptions,
  ): MaybePromise<NeutralReply | undefined>
  /** For adapters: the 404 for a path that is not ours, where nobody else can answer. */
  unmatched(request: NeutralRequest): NeutralReply
  /** For adapters: the reply to a failure of their own; unexpected ones are logged. */
  failed(request: NeutralRequest, error: unknown): NeutralReply
}
