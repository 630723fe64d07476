import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { parse } from 'acorn'
import { transformSync } from 'esbuild'
import type { Options } from 'tsup'

const entries = {
  index: 'src/index.ts',
  schema: 'src/schema/schema.ts',
  storage: 'src/storage/storage.ts',
  'storage/memory': 'src/storage/memory.ts',
  'storage/sqlite': 'src/storage/sqlite.ts',
  'storage/postgres': 'src/storage/postgres.ts',
  'storage/mariadb': 'src/storage/mariadb.ts',
  'storage/copy': 'src/storage/copy.ts',
  'storage/durable-object': 'src/storage/durable-object.ts',
  http: 'src/http-adapters/http.ts',
  node: 'src/http-adapters/node.ts',
  express: 'src/http-adapters/express.ts',
  fetch: 'src/http-adapters/fetch.ts',
  'signing-keys': 'src/signing-keys/signing-keys.ts',
  exchange: 'src/exchange/exchange.ts',
  'exchange/files': 'src/exchange/files.ts',
  contracts: 'src/testing/contracts.ts',
  testing: 'app/testing/testing.ts',
  standalone: 'app/standalone/standalone.ts',
}

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

/**
 * Whoever traces the files of a CommonJS module (@vercel/nft, for Next and Nitro) knows `module.createRequire`, and no other
 * name of it. Bundlers do not, and leave a native driver out, which they could not bundle.
 */
function showTracersTheDriver(): void {
  for (const name of readdirSync('dist').filter((file) => file.endsWith('.cjs'))) {
    const text = readFileSync(join('dist', name), 'utf8')
    const shown = text.replace(
      /const (require\d*) = (\w+)\.createRequire\(typeof __filename.*\);/,
      'const module = $2, $1 = module.createRequire(__filename);',
    )
    if (shown !== text) writeFileSync(join('dist', name), shown)
  }
}

/** Leaves out the comments that have lines of their own: those of what is bundled are a tenth of the package. */
function leaveOutComments(): void {
  const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) => /\.c?js$/.test(file))
  for (const name of files) {
    const text = readFileSync(join('dist', name), 'utf8')
    let kept = ''
    let end = 0
    const onComment = (isBlock: boolean, content: string, from: number, to: number): void => {
      const start = text.lastIndexOf('\n', from - 1) + 1
      const isAlone = text.slice(start, from).trim() === '' && (text[to] === '\n' || to === text.length)
      if (text.startsWith('#!', from) || !isAlone || (isBlock && !content.startsWith('*'))) return
      kept += text.slice(end, start)
      end = to + 1
    }
    parse(text, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, onComment })
    writeFileSync(join('dist', name), kept + text.slice(end))
  }
}

/** Removes whitespace from the CommonJS files, a quarter of the package. The ES modules beside them stay readable. */
function shrinkTwins(): void {
  for (const name of readdirSync('dist').filter((file) => file.endsWith('.cjs'))) {
    const file = join('dist', name)
    const { code } = transformSync(readFileSync(file, 'utf8'), { minifyWhitespace: true, target: 'node20' })
    writeFileSync(file, code)
  }
}

const options: Options = {
  // The CLI rides in the same build, so that it shares chunks (one class identity) with the library entries, and because
  // a second configuration would run at the same time and wipe this one's output. "files" leaves its .cjs twin out.
  entry: { ...entries, cli: 'app/cli/cli.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  removeNodeProtocol: false, // node:sqlite exists only with its prefix
  splitting: true,
  // Not for size: without it the split CommonJS goes through another compiler, which makes `a ?? (yield b)` and
  // `import.meta` syntax errors. The tests of the packed package require every entry for that reason.
  treeshake: 'safest',
  sourcemap: false,
  metafile: true, // which sources each file has, for the test of what an entry loads
  clean: true,
  silent: true,
  // Kysely is hundreds of small files, and zod a hundred: bundled, the storages load in 5 ms instead of 118, and a command
  // starts in three quarters of the time. Only the command needs commander: bundled, it is no dependency of those who
  // import the package.
  noExternal: ['kysely', 'zod', 'commander', '@commander-js/extra-typings'],
  esbuildPlugins: [importRequiredBuiltins],
  dts: {
    entry: entries,
    // tsup always sets baseUrl for its d.ts pass; TypeScript 6 refuses that (TS5101) without this.
    compilerOptions: { ignoreDeprecations: '6.0' },
  },
  onSuccess: async () => {
    showTracersTheDriver()
    leaveOutComments()
    shrinkTwins()
    // What is bundled keeps its licence beside it.
    mkdirSync('dist/licenses', { recursive: true })
    for (const name of ['kysely', 'zod', 'commander']) {
      cpSync(`node_modules/${name}/LICENSE`, `dist/licenses/${name}.txt`)
    }
    for (const file of LICENCES) cpSync(join(SWAGGER_UI, file), join('dist/swagger-ui', file))
    // Compressed: otherwise they are a third of the package.
    for (const file of PAGE_PARTS) {
      const packed = brotliCompressSync(readFileSync(file), COMPRESSION)
      writeFileSync(`dist/swagger-ui/${basename(file)}.br`, packed)
    }
  },
}

export default options
