import type { Options } from 'tsup'
import { declarationsOf, finishFiles, keepLicences } from './tools/build/dist-files.ts'

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
}

const options: Options = {
  entry: entries,
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
  // Kysely is hundreds of small files: bundled, the storages load in 5 ms instead of 118. modern-tar has no CommonJS, which
  // Jest and Yarn's Plug'n'Play need.
  noExternal: ['kysely', 'modern-tar'],
  dts: {
    entry: declarationsOf(entries),
    // tsup always sets baseUrl for its d.ts pass; TypeScript 6 refuses that (TS5101) without this.
    compilerOptions: { ignoreDeprecations: '6.0' },
  },
  onSuccess: async () => {
    finishFiles()
    keepLicences('kysely', 'modern-tar')
  },
}

export default options
