import type { Api } from '../http-adapters/http.ts'
import { apiDocument } from './api-document.ts'
import { apiPage, apiPageScript, apiPageStyle, PAGE_POLICY } from './api-page.ts'
import type { HeaderLines } from './json-reply.ts'
import { jsonType } from './json-reply.ts'
import type { MovedPage } from './own-page.ts'
import { OwnPage } from './own-page.ts'
import { packageVersion } from './package-version.ts'
import { API_PATH, PAGE_PATH } from './public-url.ts'
import { swaggerUiFile } from './swagger-ui.ts'

/** The version of the Gitea API that is followed: clients ask for it to know what they may call. Ours stands behind the `+`. */
const API_VERSION = '1.26.4'

/** The pages of the server's own, by their paths. What is not in here is not there. */
export type OwnPages = ReadonlyMap<string, OwnPage | MovedPage>

/**
 * Makes the server's own pages: the version, the OpenAPI document, and the API page with its parts. The root of the server
 * and that of the API, which `forgelet serve` prints, lead to the API page.
 */
export function ownPages(api: Pick<Api<never>, 'openApi'>, publicUrl: string | undefined): OwnPages {
  const document = (): string => JSON.stringify(apiDocument(api, publicUrl))
  const version = (): string => JSON.stringify({ version: `${API_VERSION}+forgelet-${packageVersion()}` })
  return new Map<string, OwnPage | MovedPage>([
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

function page(type: string, read: () => string | Uint8Array, headers: HeaderLines = []): OwnPage {
  return new OwnPage([['Content-Type', type], ...headers], read)
}
