import type { ObservedRequest } from '../../core/observer.ts'
import type { ErrorJson } from './error-reply.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'
import { METHODS } from './router.ts'

export type { ObservedRequest, Observer } from '../../core/observer.ts'

/** The route that was found for a request. */
export type Place = Partial<Pick<ObservedRequest, 'path' | 'operationId' | 'service'>>

/** Starts to observe a request, if there is an observer. Call the returned function with its response. */
export function observing(
  observe: ((request: ObservedRequest) => void) | undefined,
  request: ApiRequest,
  { path, operationId, service }: Place,
): ((reply: ApiResponse) => void) | undefined {
  if (observe === undefined) return undefined

  const begun = performance.now()
  const method = METHODS.includes(request.method) ? request.method : '_OTHER'
  return (reply) => {
    const milliseconds = performance.now() - begun
    observe({ method, path, operationId, service, status: reply.status, milliseconds, ...errorOf(reply) })
  }
}

/** What the response says about an error. */
function errorOf({ status, body }: ApiResponse): Pick<ObservedRequest, 'code' | 'requestId' | 'aborted'> {
  if (status < 400 || typeof body !== 'string') return { code: undefined, requestId: undefined, aborted: false }

  const { code, requestId }: ErrorJson = JSON.parse(body)
  // A failed request has no id if the client has disconnected.
  return { code, requestId, aborted: status >= 500 && requestId === undefined }
}
