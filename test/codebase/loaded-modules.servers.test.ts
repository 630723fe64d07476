// What an import of an entry loads, in a process of its own, from what is built in dist/. Anything else makes a cold start slower: a
// database, the other routes, a package.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

test.each([
  ['forgelet', /^src\/(core|schema)\/(?!documents)/],
  ['forgelet/http', /^(src\/(http-adapters\/routes|schema)\/(?!documents)|schema\/openapi\.json$)/],
  ['forgelet/node', /^src\/(http-adapters\/(routes|node)|http-adapters|schema)\/(?!documents|fetch)/],
  ['forgelet/express', /^src\/(http-adapters\/(routes|node)|http-adapters|schema)\/(?!documents|fetch)/],
  ['forgelet/fetch', /^src\/(http-adapters\/(routes|fetch)|http-adapters|schema)\/(?!documents|node)/],
  ['forgelet/storage/memory', /^src\/(storage|schema)\/(?!documents|sql)/],
  ...['sqlite', 'postgres', 'mariadb'].map(
    (name) =>
      [
        `forgelet/storage/${name}`,
        /^(src\/(storage\/sql|storage|schema)\/(?!documents|memory)|node_modules\/kysely\/)/,
      ] as const,
  ),
] as const)('%s loads only its own modules, and Node prints nothing', (entry, own) => {
  const { sources, printed } = loadedBy(entry)

  expect(sources).not.toEqual([])
  expect([sources.filter((source) => !own.test(source)), printed]).toEqual([[], ''])
})

/** Node writes which files it loaded, as coverage, and the build has written which sources each of them has. */
function loadedBy(entry: string): { readonly sources: readonly string[]; readonly printed: string } {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-loaded-'))
  try {
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', `import '${entry}'`], {
      cwd: ROOT,
      env: { ...process.env, NODE_V8_COVERAGE: folder },
      encoding: 'utf8',
    })
    const loaded = readdirSync(folder)
      .flatMap((name): { url: string }[] => JSON.parse(readFileSync(join(folder, name), 'utf8')).result)
      .filter(({ url }) => url.startsWith('file:') && !/\[eval\d*\]/.test(url))
    return { sources: loaded.flatMap(({ url }) => sourcesOf(fileURLToPath(url))), printed: stderr }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function sourcesOf(file: string): readonly string[] {
  const own = relative(ROOT, file)
  if (!own.startsWith('dist/')) return [own]
  const { outputs }: BuiltFiles = JSON.parse(readFileSync(join(ROOT, 'dist/metafile-esm.json'), 'utf8'))
  const inputs = Object.entries(outputs[own]?.inputs ?? {})
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([source]) => source)
}

/** What esbuild writes of a build. */
interface BuiltFiles {
  readonly outputs: {
    readonly [file: string]: { readonly inputs: { readonly [source: string]: { readonly bytesInOutput: number } } }
  }
}
