import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../http-adapters/http.ts'
import { apiDocument, apiPage, apiPageScript, apiPageStyle, PAGE_POLICY, swaggerUiFile } from './api-page.ts'
import { packageVersion } from './command.ts'
import type { HeaderLines } from './json-reply.ts'
import { errorBody, jsonType, replyJson } from './json-reply.ts'
import { API_PATH, PAGE_PATH } from './public-url.ts'

/** A page that is ready to be sent. All responses share its bytes. */
interface ReadyPage {
  readonly bytes: Buffer
  readonly etag: string
}

/** One of the server's own pages, outside the API. The first request reads its content and computes its `ETag`. */
export class StaticPage {
  readonly headers: HeaderLines
  readonly #read: () => string | Uint8Array
  #ready: ReadyPage | undefined

  /** @param read - reads the content; if it throws, the next request calls it again */
  constructor(headers: HeaderLines, read: () => string | Uint8Array) {
    this.headers = headers
    this.#read = read
  }

  /** Returns the page, or undefined if its content cannot be read. */
  ready(): ReadyPage | undefined {
    try {
      this.#ready ??= readyPage(this.#read())
    } catch {
      return undefined
    }
    return this.#ready
  }
}

function readyPage(content: string | Uint8Array): ReadyPage {
  const bytes = Buffer.from(content)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** An address that redirects to a page. */
export interface MovedPage {
  /** An address relative to the requested one, so that it is correct under any prefix. */
  readonly movedTo: string
  /** 308 for a permanent redirect, 302 for a temporary one. */
  readonly status: 302 | 308
}

/** A request for a page. */
export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The URL of the API page, for error bodies. */
  readonly docsUrl: string
}

const ALLOW = 'GET, HEAD, OPTIONS'

/**
 * Responds to a request for a page. GET and HEAD receive the page, or 304 if the client has it already. OPTIONS
 * receives 204, any other method 405. If the page cannot be read, the response is 500.
 */
export function answerPage(page: StaticPage | MovedPage, visit: Visit): void {
  if (!isRead(visit)) return
  if ('movedTo' in page) visit.response.writeHead(page.status, { Location: page.movedTo }).end()
  else show(page, visit)
}

/** Returns true for GET and HEAD. Responds to OPTIONS with 204 and to any other method with 405, and returns false. */
export function isRead(visit: Visit): boolean {
  const { request, response } = visit
  const { method } = request
  if (method === 'GET' || method === 'HEAD') return true

  if (method === 'OPTIONS') response.writeHead(204, { Allow: ALLOW }).end()
  else refuse(visit, 405, 'METHOD_NOT_ALLOWED', 'method not allowed', [['Allow', ALLOW]])
  return false
}

function show(page: StaticPage, visit: Visit): void {
  const ready = page.ready()
  if (ready === undefined) {
    refuse(visit, 500, 'INTERNAL', 'a file of this page is missing on the server: install forgelet again')
    return
  }

  const { request, response } = visit
  const { bytes, etag } = ready
  for (const [name, value] of [...page.headers, ...ALWAYS, ['ETag', etag] as const]) response.setHeader(name, value)
  if (request.headers['if-none-match']?.includes(etag) === true) {
    response.removeHeader('Content-Type')
    response.writeHead(304).end()
    return
  }
  response.setHeader('Content-Length', bytes.length)
  response.end(bytes)
}

const ALWAYS: HeaderLines = [
  ['Cache-Control', 'max-age=0, private, must-revalidate'],
  ['X-Content-Type-Options', 'nosniff'],
]

function refuse(
  { response, docsUrl }: Visit,
  status: number,
  code: string,
  message: string,
  headers?: HeaderLines,
): void {
  replyJson(response, status, errorBody(code, message, docsUrl), headers)
}

/**
 * The version of the Gitea API that this server follows. Clients read it to find out which routes exist. The version of
 * this package follows after the `+`.
 */
const API_VERSION = '1.27.3'

/** The server's own pages by path. Any other path is not found. */
export type StaticPages = ReadonlyMap<string, StaticPage | MovedPage>

/**
 * Creates the server's own pages: the version, the OpenAPI document, and the API page with its parts. The root of the
 * server and the root of the API, which `forgelet serve` prints, redirect to the API page.
 */
export function staticPages(api: Pick<Api<never>, 'openApi'>, publicUrl: string | undefined): StaticPages {
  const document = (): string => JSON.stringify(apiDocument(api, publicUrl))
  const version = (): string => JSON.stringify({ version: `${API_VERSION}+forgelet-${packageVersion()}` })
  return new Map<string, StaticPage | MovedPage>([
    [`${API_PATH}/version`, page(jsonType, version)],
    [`${API_PATH}/openapi.json`, page(jsonType, document)],
    [PAGE_PATH, page(HTML, apiPage, [['Content-Security-Policy', PAGE_POLICY]])],
    [`${PAGE_PATH}/`, { movedTo: '../swagger', status: 308 }],
    ['/', { movedTo: PAGE_PATH.slice(1), status: 302 }],
    [API_PATH, { movedTo: 'swagger', status: 302 }],
    [`${API_PATH}/`, { movedTo: '../swagger', status: 302 }],
    [`${PAGE_PATH}/api-page.js`, page(SCRIPT, apiPageScript)],
    [`${PAGE_PATH}/api-page.css`, page(STYLE, apiPageStyle)],
    [`${PAGE_PATH}/swagger-ui-bundle.js`, page(SCRIPT, () => swaggerUiFile('swagger-ui-bundle.js'))],
    [`${PAGE_PATH}/swagger-ui.css`, page(STYLE, () => swaggerUiFile('swagger-ui.css'))],
  ])
}

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

function page(type: string, read: () => string | Uint8Array, headers: HeaderLines = []): StaticPage {
  return new StaticPage([['Content-Type', type], ...headers], read)
}
