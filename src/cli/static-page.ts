import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../http-adapters/http.ts'
import { apiDocument, apiPage, apiPageScript, apiPageStyle, PAGE_POLICY, swaggerUiFile } from './api-page.ts'
import { packageVersion } from './command.ts'
import type { HeaderLines } from './json-reply.ts'
import { errorBody, jsonType, replyJson } from './json-reply.ts'
import { API_PATH, PAGE_PATH } from './public-url.ts'

/** A page that is ready to be sent. All visits share its bytes. */
interface ReadyPage {
  readonly bytes: Buffer
  readonly etag: string
}

/** A page of the server's own, beside the API. Its content is read, and its `ETag` computed, once: at the first visit. */
export class StaticPage {
  readonly headers: HeaderLines
  readonly #read: () => string | Uint8Array
  #ready: ReadyPage | undefined

  /** @param read - reads the content; called again at the next visit when it throws */
  constructor(headers: HeaderLines, read: () => string | Uint8Array) {
    this.headers = headers
    this.#read = read
  }

  /** The page's bytes; undefined when its content cannot be read. */
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

/** An address that leads to a page. */
export interface MovedPage {
  /** An address relative to the one that was asked for, so that it is right under any prefix. */
  readonly movedTo: string
  /** 308 for a page that has moved for ever, 302 for an address that only leads there now. */
  readonly status: 302 | 308
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
export function answerPage(page: StaticPage | MovedPage, visit: Visit): void {
  const { request, response } = visit
  const { method } = request
  if (method === 'OPTIONS') response.writeHead(204, { Allow: ALLOW }).end()
  else if (method !== 'GET' && method !== 'HEAD') {
    refuse(visit, 405, 'METHOD_NOT_ALLOWED', 'method not allowed', [['Allow', ALLOW]])
  } else if ('movedTo' in page) response.writeHead(page.status, { Location: page.movedTo }).end()
  else show(page, visit)
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

/** The version of the Gitea API that is followed: clients ask for it to know what they may call. Ours stands behind the `+`. */
const API_VERSION = '1.26.4'

/** The pages of the server's own, by their paths. What is not in here is not there. */
export type StaticPages = ReadonlyMap<string, StaticPage | MovedPage>

/**
 * Makes the server's own pages: the version, the OpenAPI document, and the API page with its parts. The root of the server
 * and that of the API, which `forgelet serve` prints, lead to the API page.
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
