import type { IncomingMessage, ServerResponse } from 'node:http'

/** Additional header lines of a response. */
export type HeaderLines = readonly (readonly [name: string, value: string])[]

/** The body of an error, in the format of the API. */
export interface ErrorBody {
  readonly message: string
  /** The URL of the API page; `""` if unknown. */
  readonly url: string
  readonly code: string
}

/** Creates the body of an error, in the format of the API. */
export function errorBody(code: string, message: string, url: string): ErrorBody {
  return { message, url, code }
}

/** The content type of every JSON response, the same as in the API. */
export const jsonType = 'application/json;charset=utf-8'

/** Returns the header lines of a JSON response. */
export function jsonHeaders(text: string): HeaderLines {
  return [
    ['Content-Type', jsonType],
    ['Content-Length', String(Buffer.byteLength(text))],
    ['Cache-Control', 'max-age=0, private, must-revalidate'],
    ['X-Content-Type-Options', 'nosniff'],
  ]
}

/** Sends a JSON response. The response to HEAD has the same headers. */
export function replyJson(response: ServerResponse, status: number, body: object, headers: HeaderLines = []): void {
  response.end(prepare(response, status, body, headers))
}

/**
 * Sends a JSON response to a client that may still be sending, on a connection that closes after it. What arrives is
 * discarded: a connection that is closed while bytes arrive is reset, and the client would not see the response.
 */
export function replyEarly(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: object,
  headers: HeaderLines,
): void {
  response.write(prepare(response, status, body, headers))
  request.resume().on('end', () => response.end())
}

function prepare(response: ServerResponse, status: number, body: object, headers: HeaderLines): string {
  const text = JSON.stringify(body)
  response.statusCode = status
  for (const [name, value] of [...headers, ...jsonHeaders(text)]) response.setHeader(name, value)
  return text
}
