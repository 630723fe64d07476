import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Options } from 'tsup'
import { declarationsOf, finishFiles, keepLicences, removeTwin } from './tools/build/dist-files.ts'

// The ready server, its command and the test host: built behind the library, into the same folder.

const entries = { testing: 'app/testing/testing.ts', standalone: 'app/standalone/standalone.ts' }

const require = createRequire(import.meta.url)
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'))
const LICENCES = ['swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE']
/** The parts of the API page of `forgelet serve`. */
const PAGE_PARTS = [
  ...['index.html', 'api-page.js', 'api-page.css'].map((name) => join('app/cli/page', name)),
  ...['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => join(SWAGGER_UI, name)),
]
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }

/**
 * Commander is CommonJS, and requires modules of Node. A bundle that is an ES module cannot require at run time, so each
 * of them becomes a module that imports it.
 */
const importRequiredBuiltins: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'import-required-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'require-call' ? { path, namespace: 'required-builtin' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'required-builtin' }, ({ path }) => ({
      contents: `export * from '${path}'`,
    }))
  },
}

const options: Options = {
  // The command is in the same build, so that it shares chunks with the entries.
  entry: { ...entries, cli: 'app/cli/cli.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  removeNodeProtocol: false,
  splitting: true,
  treeshake: 'safest', // as for the library
  sourcemap: false,
  clean: false, // the library is there
  silent: true,
  // The library is imported as every host imports it, so that nothing of it is there twice.
  external: [/^forgelet(\/|$)/],
  // zod is a hundred small files: bundled, a command starts in three quarters of the time. Only the command needs commander:
  // bundled, it is no dependency of those who import the package.
  noExternal: ['zod', 'commander', '@commander-js/extra-typings'],
  esbuildPlugins: [importRequiredBuiltins],
  dts: { entry: declarationsOf(entries), compilerOptions: { ignoreDeprecations: '6.0' } },
  onSuccess: async () => {
    removeTwin('cli.cjs')
    finishFiles()
    keepLicences('zod', 'commander')
    for (const file of LICENCES) cpSync(join(SWAGGER_UI, file), join('dist/swagger-ui', file))
    // Compressed: otherwise they are a third of the package.
    for (const file of PAGE_PARTS) {
      const packed = brotliCompressSync(readFileSync(file), COMPRESSION)
      writeFileSync(`dist/swagger-ui/${basename(file)}.br`, packed)
    }
  },
}

export default options
