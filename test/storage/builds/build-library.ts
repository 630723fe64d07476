import { readFileSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Options } from 'tsup'
import { build } from 'tsup'
import type { mysqlStorage } from '../../../src/storage/mysql.ts'
import type { postgresStorage } from '../../../src/storage/postgres.ts'
import type { sqliteStorage } from '../../../src/storage/sqlite.ts'

/** What changes a build. */
type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/** A build of this library, loaded: a copy of its own of everything. */
export interface BuiltLibrary {
  readonly sqliteStorage: typeof sqliteStorage
  readonly postgresStorage: typeof postgresStorage
  readonly mysqlStorage: typeof mysqlStorage
  /** Where it is. */
  readonly folder: string
}

const ROOT = resolve(import.meta.dirname, '../../..')
const ENTRIES = ['sqlite', 'postgres', 'mysql'] as const

/**
 * Builds the library from its sources, with another list of migrations: that of an earlier release, or of a later one.
 *
 * @param name - the folder's, under node_modules, where the drivers are found
 * @param migrations - the text of src/storage/sql/schema/all-migrations.ts; from `ours` it can import that itself
 */
export async function buildLibrary(name: string, migrations: string): Promise<BuiltLibrary> {
  const folder = resolve(ROOT, 'node_modules/.cache/forgelet/builds', `${name}-${process.pid}`)
  await build({
    config: false,
    entry: Object.fromEntries(ENTRIES.map((entry) => [entry, resolve(ROOT, `src/storage/${entry}.ts`)])),
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outDir: folder,
    noExternal: ['kysely'],
    silent: true,
    esbuildPlugins: [migrationsFrom(migrations)],
  })
  const loaded = await Promise.all(ENTRIES.map((entry) => import(pathToFileURL(resolve(folder, `${entry}.js`)).href)))
  return Object.assign({ folder }, ...loaded)
}

/** Removes a build. */
export function removeBuild({ folder }: BuiltLibrary): void {
  rmSync(folder, { recursive: true, force: true })
}

function migrationsFrom(contents: string): Plugin {
  return {
    name: 'other-migrations',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /[/\\]all-migrations[.]ts$/, namespace: 'file' }, ({ path }) => ({
        contents,
        loader: 'ts',
        resolveDir: dirname(path),
      }))
      onResolve({ filter: /^ours$/ }, ({ resolveDir }) => ({
        path: resolve(resolveDir, 'all-migrations.ts'),
        namespace: 'ours',
      }))
      onLoad({ filter: /./, namespace: 'ours' }, ({ path }) => ({
        contents: readFileSync(path, 'utf8'),
        loader: 'ts',
        resolveDir: dirname(path),
      }))
    },
  }
}
