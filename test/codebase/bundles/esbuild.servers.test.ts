import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe } from 'vitest'
import { copyNativeDriver, ROOT, servesElsewhere } from './served.ts'

const require = createRequire(import.meta.url)
const { build } = createRequire(require.resolve('tsup'))('esbuild')

describe.each([
  ['an ES module', 'esm', 'host.mjs'],
  ['CommonJS', 'cjs', 'host.cjs'],
])('a bundle of esbuild that is %s', (_what, format, name) => {
  servesElsewhere(async (folder) => {
    const outfile = join(folder, name)
    await build({
      entryPoints: [join(ROOT, 'test/codebase/bundles/host.mjs')],
      bundle: true,
      platform: 'node',
      format,
      outfile,
      banner: format === 'esm' ? { js: REQUIRE } : {},
      logLevel: 'error',
    })
    copyNativeDriver(folder)
    return outfile
  })
})

/** What esbuild asks of those who bundle CommonJS, as pg is, into an ES module. */
const REQUIRE = "import { createRequire as of } from 'node:module'; const require = of(import.meta.url);"
