import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderLines } from './json-reply.ts'
import { errorBody, replyJson } from './json-reply.ts'

/** A page of the server's own, beside the API. */
export interface OwnPage {
  readonly headers: HeaderLines
  /** What is on it; asked for at every visit. */
  content(): string | Uint8Array
}

/** A page that has moved. */
export interface MovedPage {
  /** An address relative to the one that was asked for, so that it is right under any prefix. */
  readonly movedTo: string
}

/** One visit to a page. */
export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Where the API page is, for errors. */
  readonly docsUrl: string
}

const ALLOW = 'GET, HEAD, OPTIONS'

/** Answers a visit: GET and HEAD with the page, or 304 to whoever has it; OPTIONS; 405. A page that cannot be read is 500. */
export function answerPage(page: OwnPage | MovedPage, visit: Visit): void {
  const { request, response } = visit
  const { method } = request
  if (method === 'OPTIONS') response.writeHead(204, { Allow: ALLOW }).end()
  else if (method !== 'GET' && method !== 'HEAD') {
    refuse(visit, 405, 'METHOD_NOT_ALLOWED', 'method not allowed', [['Allow', ALLOW]])
  } else if ('movedTo' in page) response.writeHead(308, { Location: page.movedTo }).end()
  else show(page, visit)
}

function show(page: OwnPage, visit: Visit): void {
  const content = contentOf(page)
  if (content === undefined) {
    refuse(visit, 500, 'INTERNAL', 'a file of this page is missing on the server: install forgelet anew')
    return
  }

  const { request, response } = visit
  const etag = `"${createHash('sha256').update(content).digest('base64url')}"`
  for (const [name, value] of [...page.headers, ...ALWAYS, ['ETag', etag] as const]) response.setHeader(name, value)
  if (request.headers['if-none-match']?.includes(etag) === true) {
    response.removeHeader('Content-Type')
    response.writeHead(304).end()
    return
  }
  response.setHeader('Content-Length', Buffer.byteLength(content))
  response.end(content)
}

const ALWAYS: HeaderLines = [
  ['Cache-Control', 'max-age=0, private, must-revalidate'],
  ['X-Content-Type-Options', 'nosniff'],
]

function contentOf(page: OwnPage): string | Uint8Array | undefined {
  try {
    return page.content()
  } catch {
    return undefined
  }
}

function refuse(
  { response, docsUrl }: Visit,
  status: number,
  code: string,
  message: string,
  headers?: HeaderLines,
): void {
  replyJson(response, status, errorBody(code, message, docsUrl), headers)
}
