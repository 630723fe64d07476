import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { build } from 'tsup'

const ROOT = resolve(import.meta.dirname, '../../..')
/** Under node_modules, where the drivers are found. */
const FOLDER = resolve(ROOT, `node_modules/.cache/forgelet/commands-${process.pid}`)

/** What a build needs. */
const SOURCES = ['src', 'schema', 'package.json']

/** The last commit with the first version of the host's tables. */
const FIRST = '90ccd6a003416dcab21a1a28e0eeb84bc8a1b568'

/** Builds the command of the release whose host has the first version of its tables; returns its file. */
export async function buildFirstCommand(): Promise<string> {
  const sources = resolve(FOLDER, 'first')
  mkdirSync(sources, { recursive: true })
  execFileSync('tar', ['-x', '-C', sources], { input: sourcesOf(FIRST) })
  return buildCommand(sources)
}

/**
 * Builds the command of a release after this one, whose host has one more step: a table.
 *
 * @param kind - whether this release can use the tables after that step
 */
export async function buildNextCommand(kind: 'minor' | 'major'): Promise<string> {
  const sources = resolve(FOLDER, kind)
  for (const name of SOURCES) cpSync(resolve(ROOT, name), resolve(sources, name), { recursive: true })
  const tables = resolve(sources, 'src/standalone/host-store/host-tables.ts')
  const next = `({ build, dialect }) => [
    build.schema.createTable('notes').addColumn('id', dialect.types.integer).modifyEnd(dialect.tableEnd),
  ]`
  const text = readFileSync(tables, 'utf8')
  const changed = text
    .replace(/(HOST_MIGRATIONS: [^=]+=> Ddl\)\[\] = \[[^\]]+)\]/, `$1, ${next}]`)
    .replace(/(OLDEST_LIBRARY = )1\n/, kind === 'minor' ? '$11\n' : '$1HOST_MIGRATIONS.length\n')
  if (changed === text) throw new Error('the steps of the host are not where this test expects them')
  writeFileSync(tables, changed)
  return buildCommand(sources)
}

/** Removes every build. */
export function removeCommands(): void {
  rmSync(FOLDER, { recursive: true, force: true })
}

async function buildCommand(sources: string): Promise<string> {
  const outDir = resolve(sources, 'dist')
  await build({
    config: false,
    entry: { cli: resolve(sources, 'src/cli/cli.ts') },
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outDir,
    noExternal: ['kysely'],
    silent: true,
  })
  return resolve(outDir, 'cli.js')
}

function sourcesOf(commit: string): Buffer {
  try {
    return execFileSync('git', ['archive', commit, ...SOURCES], { cwd: ROOT, maxBuffer: 100_000_000, stdio: 'pipe' })
  } catch (error) {
    throw new Error(`the old release is built from commit ${commit}: fetch the whole history`, { cause: error })
  }
}
