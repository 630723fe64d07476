import type { ErrorCode } from '../schema/errors.ts'
import type { ObservedOperation } from './instrument-storage.ts'
import type { ServiceName } from './services.ts'

/**
 * Receives what happened, for metrics. A method that is missing costs nothing: without `operation` no operation is
 * timed, and without `request` no request is. Errors and rejections are ignored; the first is logged as a warning.
 * Source: docs/observability.md
 */
export interface Observer {
  /** Called once for each operation of the storage, after it has ended. */
  operation?(operation: ObservedOperation): unknown
  /** Called once for each request that an API answers, after the response has been built. */
  request?(request: ObservedRequest): unknown
}

/** One answered request, for metrics. It contains nothing that a client can invent: no name, no id, no address. */
export interface ObservedRequest {
  /**
   * `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`; `_OTHER` for any other method, as in OpenTelemetry.
   */
  readonly method: string
  /**
   * The path of the route, with its parameters in braces: `/orgs/{org}/blocks`. Undefined for a path that the API does
   * not have.
   */
  readonly path: string | undefined
  /**
   * The operation id in the API document. Undefined if no operation was found: for 405, for OPTIONS, and for paths that
   * the API does not have.
   */
  readonly operationId: string | undefined
  /** The service of the operation. */
  readonly service: ServiceName | undefined
  readonly status: number
  /** The code in the body of an error; undefined if the response is not an error. */
  readonly code: ErrorCode | undefined
  /**
   * The time from finding the route to building the response, before it is written. It includes the host's ports and
   * reading the body.
   */
  readonly milliseconds: number
  /** For a 500 or 503: identifies the entry in the host's log. */
  readonly requestId: string | undefined
  /** Whether the request was abandoned because the client disconnected. No client reads this response. */
  readonly aborted: boolean
}
