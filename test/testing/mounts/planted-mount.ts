import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { World } from '../../world.ts'

/** What a mounting that has a fault is made of. */
export interface Parts {
  readonly world: World
  /** The API at `/a/b`, rightly mounted; what is not of the API goes on to the host. */
  handle(request: IncomingMessage, response: ServerResponse): void
  /** To be called when nothing will happen any more: then the case need not wait for its time to be over. */
  hangs(): void
}

/** A mounting with one fault. */
export interface PlantedMount {
  /** What it does, behind "a mounting that". */
  readonly fault: string
  /** The case that catches it. */
  readonly caughtBy: string
  plant(parts: Parts): RequestListener
}

/** A mounting that changes requests before they are handled. */
export function changing(change: (request: IncomingMessage) => void): PlantedMount['plant'] {
  return ({ handle }) =>
    (request, response) => {
      change(request)
      handle(request, response)
    }
}

/** A mounting that changes targets before they are handled. */
export function rewriting(rewrite: (path: string, query: string) => string): PlantedMount['plant'] {
  return changing((request) => {
    const [path = '', ...query] = (request.url ?? '').split('?')
    request.url = rewrite(path, query.length === 0 ? '' : `?${query.join('?')}`)
  })
}

/** A mounting that answers some requests itself. */
export function answering(
  isMeant: (request: IncomingMessage) => boolean,
  answer: (response: ServerResponse, request: IncomingMessage) => unknown,
): PlantedMount['plant'] {
  return ({ handle }) =>
    (request, response) => {
      if (isMeant(request)) answer(response, request)
      else handle(request, response)
    }
}

/** A mounting that sets a header of its own behind the API. */
export function overwriting(
  name: string,
  value: (old: unknown, request: IncomingMessage) => string,
): PlantedMount['plant'] {
  return ({ handle }) =>
    (request, response) => {
      const setHeader = response.setHeader.bind(response)
      response.setHeader = (key, old) => setHeader(key, key === name ? value(old, request) : old)
      handle(request, response)
    }
}

/** A mounting that reads bodies first, those of some methods. */
export function reading(
  methods: readonly string[],
  keep: (request: IncomingMessage, body: string) => void,
): PlantedMount['plant'] {
  return ({ handle, hangs }) =>
    (request, response) => {
      if (!methods.includes(request.method ?? '')) return handle(request, response)
      if (request.headers['content-length'] === '1000000') hangs() // the body that never comes
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        keep(request, Buffer.concat(chunks).toString())
        handle(request, response)
      })
    }
}
