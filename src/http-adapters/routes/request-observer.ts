import type { ObservedRequest } from '../../core/observer.ts'
import type { ErrorJson } from './error-json.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'
import { METHODS } from './router.ts'

export type { ObservedRequest, Observer } from '../../core/observer.ts'

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

/** Returns what observes requests. @param observe - never throws */
export function requestObserver(observe: (request: ObservedRequest) => void): RequestObserver {
  return (request, place) => {
    const begun = performance.now()
    return (reply) => observe(observed({ request, place, reply, milliseconds: performance.now() - begun }))
  }
}

function observed({ request, place, reply, milliseconds }: Answered): ObservedRequest {
  const method = METHODS.includes(request.method) ? request.method : '_OTHER'
  const { path, operationId, service } = place
  return { method, path, operationId, service, status: reply.status, milliseconds, ...errorOf(reply) }
}

/** What the response says about an error. */
function errorOf({ status, body }: ApiResponse): Pick<ObservedRequest, 'code' | 'requestId' | 'aborted'> {
  if (status < 400 || typeof body !== 'string') return { code: undefined, requestId: undefined, aborted: false }

  const { code, requestId }: ErrorJson = JSON.parse(body)
  // A failed request has no id if the client has disconnected.
  return { code, requestId, aborted: status >= 500 && requestId === undefined }
}
