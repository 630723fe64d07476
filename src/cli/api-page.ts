import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Api } from '../http-adapters/http.ts'
import { API_PATH } from './public-url.ts'

/** What the page may load and send: nothing but its own parts, and requests to its own server. */
export const PAGE_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:", // the icons in Swagger UI's own style sheet
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The API page: Swagger UI over the document of this server. All addresses in it are relative, so that it may be under any prefix. */
export function apiPage(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>forgelet API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger/swagger-ui.css">
<link rel="stylesheet" href="swagger/api-page.css">
</head>
<body>
<noscript>This page is made from <a href="v1/openapi.json">openapi.json</a> by a script, which this browser does not run.</noscript>
<div id="api"></div>
<script src="swagger/swagger-ui-bundle.js"></script>
<script src="swagger/api-page.js"></script>
</body>
</html>
`
}

/** Starts Swagger UI. No validator: it would send the address of this server to another. */
export function apiPageScript(): string {
  return `SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#api',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  validatorUrl: null,
})
`
}

/** What Swagger UI's own style sheet leaves open, and what would not fit on a phone. */
export function apiPageStyle(): string {
  return `body { margin: 0; background: #fff; }

/* The document has no links between operations. */
.swagger-ui .response-col_links { display: none; }

/* All ways to authorize are seen at once where there is room: the last of them takes the focus. */
.swagger-ui .dialog-ux .modal-ux-content { max-height: calc(100vh - 10rem); }

.swagger-ui .responses-inner { overflow-x: auto; }
@media (max-width: 640px) {
  .swagger-ui .responses-inner { padding: 10px; }
  .swagger-ui .headers td, .swagger-ui .headers th { overflow-wrap: anywhere; padding-right: 6px; }
}
`
}

/** The files of Swagger UI that the build has put beside this program. */
export type SwaggerUiFile = 'swagger-ui-bundle.js' | 'swagger-ui.css'

/** Reads a file of Swagger UI, as it is published. */
export function swaggerUiFile(name: SwaggerUiFile): Uint8Array {
  const require = createRequire(import.meta.url)
  // The package finds itself by its own name, from the sources as from the build.
  return readFileSync(join(dirname(require.resolve('forgelet/package.json')), 'dist/swagger-ui', name))
}

/**
 * The OpenAPI document of the server: what it serves and what `forgelet openapi` prints.
 *
 * @param publicUrl - as it was told; undefined: the server is wherever the document was fetched from, under any of its names
 */
export function apiDocument(api: Pick<Api<never>, 'openApi'>, publicUrl: string | undefined): object {
  const servers = [{ url: publicUrl ?? API_PATH }]
  return { ...api.openApi(), servers }
}
