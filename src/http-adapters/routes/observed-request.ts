import type { ErrorCode } from './error-status.ts'
import type { ServiceName } from './settings.ts'

/** One request as it was answered, for metrics. It holds nothing that a client has made up: no name, no id, no address. */
export interface ObservedRequest {
  /** `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`; `_OTHER` for anything else, as OpenTelemetry has it. */
  readonly method: string
  /** The path of the route, with its parameters in braces: `/orgs/{org}/blocks`. Undefined: not one of our paths. */
  readonly path: string | undefined
  /** As in the API document; undefined where no operation was found: for 405, OPTIONS, and paths that are not ours. */
  readonly operationId: string | undefined
  /** The service of the operation. */
  readonly service: ServiceName | undefined
  readonly status: number
  /** The code in the body of an error; undefined where there was none. */
  readonly code: ErrorCode | undefined
  /** From when the route was found until the reply was made, before it is written: with the host's ports, and the body. */
  readonly milliseconds: number
  /** Of a 500 or 503: names the entry in the host's log. */
  readonly requestId: string | undefined
  /** Whether the client went away, and the request was given up: nobody reads this reply. */
  readonly aborted: boolean
}
