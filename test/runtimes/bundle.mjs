// Makes one file of a program and what it imports of the tests, so that every runtime can run it. The sources of the package
// are replaced by the built package.
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const require = createRequire(import.meta.url)
const { build } = createRequire(require.resolve('tsup'))('esbuild')

/**
 * Bundles a program.
 *
 * @param entry - its first file
 * @param dist - the folder of the built package
 * @param outfile - where the bundle goes
 * @param whole - whether the package goes into the bundle, as Workers need it; else it is imported from where it is
 */
export async function bundle({ entry, dist, outfile, whole = false }) {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: whole ? ['workerd', 'worker'] : [],
    external: ['node:*', 'cloudflare:*', 'bun:*'],
    plugins: [builtPackage(dist, whole)],
    logLevel: 'error',
  })
  return outfile
}

/** Resolves `forgelet/…`, and entry files among the sources, to the built package; another source is an error. */
function builtPackage(dist, whole) {
  return {
    name: 'built-package',
    setup({ onResolve }) {
      const built = (name) => ({ path: join(dist, `${name}.js`), external: !whole })
      // Not there on a Worker: what is used of them fails when it is loaded.
      if (whole)
        onResolve({ filter: /^(openpgp|sshpk)$/ }, ({ path }) => ({ path, external: true, sideEffects: false }))
      onResolve({ filter: /^forgelet(\/|$)/ }, ({ path }) => built(path.slice('forgelet/'.length) || 'index'))
      onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const source = relative(root, resolve(resolveDir, path))
        if (!source.startsWith('src/')) return undefined
        const [, name] =
          /^src\/(?:http-adapters\/|exchange\/)?(index|http|fetch|node|exchange|storage\/\w+)\.ts$/.exec(source) ?? []
        return name === undefined ? { errors: [{ text: `${source} is no entry of the package` }] } : built(name)
      })
    },
  }
}
