import type { ServerResponse } from 'node:http'

/** Further header lines of a reply. */
export type HeaderLines = readonly (readonly [name: string, value: string])[]

/** The body of an error, as the API has it. */
export interface ErrorBody {
  readonly message: string
  /** Where the API page is; `""` when unknown. */
  readonly url: string
  readonly code: string
}

/** The body of an error, as the API has it. */
export function errorBody(code: string, message: string, url: string): ErrorBody {
  return { message, url, code }
}

/** The content type of every JSON text, as the API has it. */
export const jsonType = 'application/json;charset=utf-8'

/** The header lines of every reply with a JSON text. */
export function jsonHeaders(text: string): HeaderLines {
  return [
    ['Content-Type', jsonType],
    ['Content-Length', String(Buffer.byteLength(text))],
    ['Cache-Control', 'max-age=0, private, must-revalidate'],
    ['X-Content-Type-Options', 'nosniff'],
  ]
}

/** Answers a request with JSON; the answer to HEAD has the same headers. */
export function replyJson(response: ServerResponse, status: number, body: object, headers: HeaderLines = []): void {
  const text = JSON.stringify(body)
  response.statusCode = status
  for (const [name, value] of [...headers, ...jsonHeaders(text)]) response.setHeader(name, value)
  response.end(text)
}
