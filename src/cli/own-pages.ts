import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { Api } from '../http-adapters/http.ts'
import { packageVersion } from './command.ts'
import { API_PATH, PAGE_PATH } from './public-url.ts'

/** One of the server's own pages, outside the API. All responses share its bytes. */
export interface OwnPage {
  readonly status: 200 | 302
  readonly headers: OutgoingHttpHeaders
  readonly bytes: Buffer
  /** Undefined: it is sent each time. */
  readonly etag?: string | undefined
}

/**
 * The version of the Gitea API that this server follows. Clients read it to find out which routes exist. The version of
 * this package follows after the `+`.
 */
const API_VERSION = '1.27.3'

const JSON_TYPE = 'application/json;charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** The API page may load only its own parts, and send requests only to its own server. */
const PAGE_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:", // the icons in the style sheet of Swagger UI
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Returns the server's own pages by path: the version, the OpenAPI document, and the API page with its parts, which are
 * read from files. The root of the server and the root of the API redirect to the API page, by addresses that are right
 * under any prefix.
 */
export function ownPages(
  api: Pick<Api<never>, 'openApi'>,
  publicUrl: string | undefined,
): ReadonlyMap<string, OwnPage> {
  // The package resolves its own name, so that this works from the sources and from the build.
  const folder = join(dirname(createRequire(import.meta.url).resolve('forgelet/package.json')), 'dist/swagger-ui')
  const file = (name: string, type: string): OwnPage => page(readFileSync(join(folder, name)), type)
  const packed = (name: string, type: string): OwnPage =>
    page(brotliDecompressSync(readFileSync(join(folder, `${name}.br`))), type)
  const index = file('index.html', 'text/html; charset=utf-8')
  return new Map([
    [
      `${API_PATH}/version`,
      page(JSON.stringify({ version: `${API_VERSION}+forgelet-${packageVersion()}` }), JSON_TYPE),
    ],
    [`${API_PATH}/openapi.json`, page(JSON.stringify(apiDocument(api, publicUrl)), JSON_TYPE)],
    [PAGE_PATH, { ...index, headers: { ...index.headers, 'Content-Security-Policy': PAGE_POLICY } }],
    [`${PAGE_PATH}/api-page.js`, file('api-page.js', SCRIPT)],
    [`${PAGE_PATH}/api-page.css`, file('api-page.css', STYLE)],
    [`${PAGE_PATH}/swagger-ui-bundle.js`, packed('swagger-ui-bundle.js', SCRIPT)],
    [`${PAGE_PATH}/swagger-ui.css`, packed('swagger-ui.css', STYLE)],
    ['/', movedTo(PAGE_PATH.slice(1))],
    [API_PATH, movedTo('swagger')],
    [`${API_PATH}/`, movedTo('../swagger')],
    [`${PAGE_PATH}/`, movedTo('../swagger')],
  ])
}

function page(content: string | Buffer, type: string): OwnPage {
  const bytes = Buffer.from(content)
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`
  return { status: 200, headers: { 'Content-Type': type, ETag: etag }, bytes, etag }
}

function movedTo(location: string): OwnPage {
  return { status: 302, headers: { Location: location }, bytes: Buffer.alloc(0) }
}

/**
 * Returns the OpenAPI document that the server serves and `forgelet openapi` prints.
 *
 * @param publicUrl - the configured public URL; if undefined, the document refers to the host that it was fetched from,
 * under whatever name
 */
export function apiDocument(api: Pick<Api<never>, 'openApi'>, publicUrl: string | undefined): object {
  const servers = [{ url: publicUrl ?? API_PATH }]
  return { ...api.openApi(), servers }
}
