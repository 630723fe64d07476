import type { Logger } from '../../core/ports.ts'
import { harmless } from '../../schema/observer.ts'
import type { NeutralReply, NeutralRequest } from './neutral.ts'
import type { ObservedRequest } from './observed-request.ts'
import { METHODS } from './router.ts'
import type { ErrorJson } from './wire/error-json.ts'

/** What was found for a request. */
export type Place = Partial<Pick<ObservedRequest, 'path' | 'operationId' | 'service'>>

/** Begins to observe a request; to be called with its reply. */
export type RequestObserver = (request: NeutralRequest, place: Place) => (reply: NeutralReply) => void

/** One request that was answered. */
interface Answered {
  readonly request: NeutralRequest
  readonly place: Place
  readonly reply: NeutralReply
  readonly milliseconds: number
}

/** Makes the host's observer ready for requests. */
export function requestObserver(
  observe: (request: ObservedRequest) => void,
  logger: Logger | undefined,
): RequestObserver {
  const tell = harmless((answered: Answered) => observe(observed(answered)), logger)

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
function errorOf({ status, body }: NeutralReply): Pick<ObservedRequest, 'code' | 'requestId' | 'aborted'> {
  if (status < 400 || body === undefined) return { code: undefined, requestId: undefined, aborted: false }

  const { code, requestId }: ErrorJson = JSON.parse(body)
  // a failure is given no id where nobody is left to be told it
  return { code, requestId, aborted: status >= 500 && requestId === undefined }
}
