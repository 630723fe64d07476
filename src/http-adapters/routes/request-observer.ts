import type { Logger } from '../../core/ports.ts'
import { safeObserver } from '../../schema/observer.ts'
import type { ErrorJson } from './error-json.ts'
import type { ErrorCode } from './error-status.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'
import { METHODS } from './router.ts'
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

/** What was found for a request. */
export type Place = Partial<Pick<ObservedRequest, 'path' | 'operationId' | 'service'>>

/** Begins to observe a request; to be called with its reply. */
export type RequestObserver = (request: ApiRequest, place: Place) => (reply: ApiResponse) => void

/** One request that was answered. */
interface Answered {
  readonly request: ApiRequest
  readonly place: Place
  readonly reply: ApiResponse
  readonly milliseconds: number
}

/** Makes the host's observer ready for requests. */
export function requestObserver(
  observe: (request: ObservedRequest) => void,
  logger: Logger | undefined,
): RequestObserver {
  const tell = safeObserver((answered: Answered) => observe(observed(answered)), logger)

  return (request, place) => {
    const begun = performance.now()
    return (reply) => tell({ request, place, reply, milliseconds: performance.now() - begun })
  }
}

function observed({ request, place, reply, milliseconds }: Answered): ObservedRequest {
  const method = METHODS.includes(request.method) ? request.method : '_OTHER'
  const { path, operationId, service } = place
  return { method, path, operationId, service, status: reply.status, milliseconds, ...errorOf(reply) }
}

/** What an error tells the client. */
function errorOf({ status, body }: ApiResponse): Pick<ObservedRequest, 'code' | 'requestId' | 'aborted'> {
  if (status < 400 || body === undefined) return { code: undefined, requestId: undefined, aborted: false }

  const { code, requestId }: ErrorJson = JSON.parse(body)
  // a failure is given no id where nobody is left to be told it
  return { code, requestId, aborted: status >= 500 && requestId === undefined }
}
