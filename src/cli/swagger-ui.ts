import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The files of Swagger UI that the build has put beside this program. */
export type SwaggerUiFile = 'swagger-ui-bundle.js' | 'swagger-ui.css'

/** Reads a file of Swagger UI, as it is published. */
export function swaggerUiFile(name: SwaggerUiFile): Uint8Array {
  const require = createRequire(import.meta.url)
  // The package finds itself by its own name, from the sources as from the build.
  return readFileSync(join(dirname(require.resolve('forgelet/package.json')), 'dist/swagger-ui', name))
}
