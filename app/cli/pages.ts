import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { CommandError, packageVersion } from './command.ts'

/** The path of the API on the server. */
export const API_PATH = '/api/v1'
/** The path of the API page on the server. */
const PAGE_PATH = '/api/swagger'

/**
 * The version of the Gitea API that this server follows. Clients read it to find out which routes exist. The version of
 * this package follows after the `+`.
 */
const API_VERSION = '1.27.3'

/** What the server itself sends, outside the API. All responses of a page share its bytes. */
export interface OwnPage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>> & { readonly ETag: string }
  readonly bytes: Buffer
}

const TYPES: { readonly [extension: string]: string | undefined } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}
const PARTS = ['api-page.js', 'api-page.css', 'swagger-ui-bundle.js', 'swagger-ui.css']

/**
 * The API page may load only its own parts, and send requests only to its own server. The style sheet of Swagger UI has
 * icons as `data:`.
 */
const OWN_PARTS = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
const PAGE_POLICY: string = `${OWN_PARTS}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/**
 * Returns the server's own pages by path: the version, the OpenAPI document, and the API page with its parts, which are
 * read from files. The root of the server and the root of the API redirect to the API page, by addresses that are right
 * under any prefix.
 *
 * @param publicUrl - the URL of the API root for clients, if configured
 * @param note - Markdown at the top of the API page
 */
export function ownPages(publicUrl: string | undefined, note?: string): ReadonlyMap<string, OwnPage> {
  const version = jsonPage({ version: `${API_VERSION}+forgelet-${packageVersion()}` })
  const document = jsonPage(apiDocument(publicUrl, note))
  return new Map([
    [`${API_PATH}/version`, version],
    [`${API_PATH}/version/`, version], // as the routes of the API
    [`${API_PATH}/openapi.json`, document],
    [`${API_PATH}/openapi.json/`, document],
    [PAGE_PATH, part('index.html')],
    ...PARTS.map((name) => [`${PAGE_PATH}/${name}`, part(name)] as const),
    ['/', movedTo(PAGE_PATH.slice(1))],
    [API_PATH, movedTo('swagger')],
    [`${API_PATH}/`, movedTo('../swagger')],
    [`${PAGE_PATH}/`, movedTo('../swagger')],
  ])
}

/** Returns JSON that the server sends. */
export function jsonPage(body: object, status = 200): OwnPage {
  return page(Buffer.from(JSON.stringify(body)), { 'Content-Type': 'application/json;charset=utf-8' }, status)
}

/** Returns a part of the API page. The package resolves its own name: this works from the sources and from the build. */
function part(name: string): OwnPage {
  const root = dirname(createRequire(import.meta.url).resolve('forgelet/package.json'))
  const bytes = brotliDecompressSync(readFileSync(join(root, 'dist/swagger-ui', `${name}.br`)))
  return page(bytes, { 'Content-Type': TYPES[extname(name)] ?? '', 'Content-Security-Policy': PAGE_POLICY })
}

function movedTo(location: string): OwnPage {
  return page(Buffer.alloc(0), { Location: location }, 302)
}

function page(bytes: Buffer, headers: Readonly<Record<string, string>>, status = 200): OwnPage {
  const shared = { 'Cache-Control': 'max-age=0, private, must-revalidate', 'X-Content-Type-Options': 'nosniff' }
  const ETag = `"${createHash('sha256').update(bytes).digest('base64url')}"`
  return { status, headers: { ...shared, ...headers, ETag }, bytes }
}

/**
 * Returns the OpenAPI document. Without a public URL, it refers to the host that it was fetched from, under whatever name.
 */
export function apiDocument(publicUrl: string | undefined, note?: string): object {
  const published: { readonly info: { readonly description: string } } = createRequire(import.meta.url)(
    'forgelet/schema/openapi.json',
  )
  const { info, ...rest } = published
  const description = note === undefined ? info.description : `${note}\n\n${info.description}`
  return { ...rest, info: { ...info, description }, servers: [{ url: publicUrl ?? API_PATH }] }
}

/**
 * Parses `--public-url`, the URL of the API root for clients. For a bare origin, the server's own API path is appended.
 * @throws CommandError (wrong usage)
 */
export function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (plain && url.search === '' && url.hash === '') {
    return url.origin + (url.pathname === '/' ? API_PATH : url.pathname.replace(/\/+$/, ''))
  }
  const fix = 'give an http or https address without credentials, query and fragment'
  throw new CommandError(2, `--public-url: ${fix}, such as https://git.example.com/api/v1`)
}

/**
 * Returns the URL of the API page for clients: next to the API root, or at the server's own path if the API root has
 * another name.
 */
export function pageUrl(publicUrl: string): string {
  if (!publicUrl.endsWith(API_PATH)) return new URL(PAGE_PATH, publicUrl).href
  return publicUrl.slice(0, -API_PATH.length) + PAGE_PATH
}
