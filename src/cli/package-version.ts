import { createRequire } from 'node:module'

/** The version of this package. */
export function packageVersion(): string {
  const require = createRequire(import.meta.url)
  // The package finds itself by its own name, from the sources as from the build.
  const { version } = require('forgelet/package.json') as { readonly version: string }
  return version
}
