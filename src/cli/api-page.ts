import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Api } from '../http-adapters/http.ts'
import { API_PATH } from './public-url.ts'

/**
 * The Content-Security-Policy of the API page. The page may load only its own parts, and send requests only to its own
 * server.
 */
export const PAGE_POLICY: string = [
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
 * Returns the HTML of the API page: Swagger UI over the OpenAPI document of this server. All addresses are relative, so
 * that the page works under any prefix.
 */
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
<noscript>This page is generated from <a href="v1/openapi.json">openapi.json</a> by a script, which this browser does not run.</noscript>
<div id="api"></div>
<script src="swagger/swagger-ui-bundle.js"></script>
<script src="swagger/api-page.js"></script>
</body>
</html>
`
}

/**
 * Returns the script that starts Swagger UI. The validator is off, because it would send the address of this server to
 * a third party.
 */
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

/** Returns additional styles for Swagger UI, including those that make the page fit on a phone. */
export function apiPageStyle(): string {
  return `body { margin: 0; background: #fff; }

/* The document has no links between operations. */
.swagger-ui .response-col_links { display: none; }

/* Show all ways to authorize at once if they fit: the last of them takes the focus. */
.swagger-ui .dialog-ux .modal-ux-content { max-height: calc(100vh - 10rem); }

.swagger-ui .responses-inner { overflow-x: auto; }
@media (max-width: 640px) {
  .swagger-ui .responses-inner { padding: 10px; }
  .swagger-ui .headers td, .swagger-ui .headers th { overflow-wrap: anywhere; padding-right: 6px; }
}
`
}

/** The files of Swagger UI that the build copies next to this program. */
export type SwaggerUiFile = 'swagger-ui-bundle.js' | 'swagger-ui.css'

/** Reads a published file of Swagger UI. */
export function swaggerUiFile(name: SwaggerUiFile): Uint8Array {
  const require = createRequire(import.meta.url)
  // The package resolves its own name, so that this works from the sources and from the build.
  return readFileSync(join(dirname(require.resolve('forgelet/package.json')), 'dist/swagger-ui', name))
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
