import type { Logger } from '../../core/ports.ts'
import { safeObserver } from '../../schema/observer.ts'
import type { ErrorJson } from './error-json.ts'
import type { ErrorCode } from './error-status.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'
import { METHODS } from './router.ts'
import type { ServiceName } from './settings.ts'

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

/** The route that was found for a request. */
export type Place = Partial<Pick<ObservedRequest, 'path' | 'operationId' | 'service'>>

/** Starts to observe a request. Call the returned function with its response. */
export type RequestObserver = (request: ApiRequest, place: Place) => (reply: ApiResponse) => void

/** One answered request. */
interface Answered {
  readonly request: ApiRequest
  readonly place: Place
  readonly reply: ApiResponse
  readonly milliseconds: number
}

/** Wraps the host's observer for use with requests. */
export function requestObserver(
  observe: (request: ObservedRequest) => void,
  logger: Logger | undefined,
): RequestObserver {
  const report = safeObserver((answered: Answered) => observe(observed(answered)), logger)

  return (request, place) => {
    const begun = performance.now()
    return (reply) => report({ request, place, reply, milliseconds: performance.now() - begun })
  }
}

function observed({ request, place, reply, milliseconds }: Answered): ObservedRequest {
  const method = METHODS.includes(request.method) ? request.method : '_OTHER'
  const { path, operationId, service } = place
  return { method, path, operationId, service, status: reply.status, milliseconds, ...errorOf(reply) }
}

/** What the response says about an error. */
function errorOf({ status, body }: ApiResponse): Pick<ObservedRequest, 'code' | 'requestId' | 'aborted'> {
  if (status < 400 || body === undefined) return { code: undefined, requestId: undefined, aborted: false }

  const { code, requestId }: ErrorJson = JSON.parse(body)
  // A failed request has no id if the client has disconnected.
  return { code, requestId, aborted: status >= 500 && requestId === undefined }
}
