// The runtimes that the package is proven on, the compilers of its types, and how to get them: from the package registry, into a folder of their own
// outside the lockfile, once. None of these packages has an install script that it needs.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const NODE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const BUN = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`
const DENO = `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`
/** Version 13 runs on whatever has Node-API 10, and brings its binaries. */
const BETTER_SQLITE3 = 'better-sqlite3@13.2.0'

/**
 * Each with the SQLite drivers that are proven on it, what a script follows on its command line, and the server of prove-http.mjs. The first Node of the registry is the
 * oldest that has node:sqlite without a flag; Miniflare brings the workerd that it runs, and is run by this Node.
 */
export const RUNTIMES = [
  {
    name: 'workerd 1.20260426.1',
    packages: ['miniflare@4.20260426.0'],
    program: process.execPath,
    drivers: [],
    server: 'workerd',
    hasObjects: true,
  },
  {
    name: `Node ${process.versions.node}`,
    packages: [],
    program: process.execPath,
    drivers: ['better-sqlite3'],
    server: 'node',
  },
  {
    name: 'Node 22.13.0',
    packages: [`${NODE}@22.13.0`],
    program: `${NODE}/bin/node`,
    drivers: ['node:sqlite'],
    server: 'node',
  },
  {
    name: 'Node 26.10.0',
    packages: [`${NODE}@26.10.0`, BETTER_SQLITE3],
    program: `${NODE}/bin/node`,
    drivers: ['node:sqlite', 'better-sqlite3'],
    server: 'node',
  },
  { name: 'Bun 1.4.5', packages: [`${BUN}@1.4.5`], program: `${BUN}/bin/bun`, drivers: ['bun:sqlite'], server: 'bun' },
  {
    name: 'Deno 2.9.6',
    packages: [`${DENO}@2.9.6`],
    program: `${DENO}/deno`,
    drivers: ['node:sqlite'],
    args: ['run', '--allow-all'],
    server: 'deno',
  },
]

/** The compilers that the types are proven with: the oldest that is supported, and the newest of each later line. */
export const COMPILERS = ['5.5.4', '5.9.3', '6.0.3', '7.0.2'].map((version) => ({
  name: `TypeScript ${version}`,
  packages: [`typescript@${version}`],
  program: process.execPath,
}))

/**
 * Installs what a runtime or a compiler needs, unless it is there.
 *
 * @param cache - where each runtime has its folder
 * @returns the folder, and the program that runs scripts
 */
export function install({ name, packages, program }, cache) {
  const folder = join(cache, name.replace(' ', '-').toLowerCase())
  if (packages.length === 0) mkdirSync(folder, { recursive: true })
  else if (!existsSync(folder)) installInto(folder, packages)
  return { folder, program: program === process.execPath ? program : join(folder, 'node_modules', program) }
}

/** In another folder first, so that an installation that was broken off is not taken for one. */
function installInto(folder, packages) {
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['install', '--prefix', unfinished, ...quiet, ...packages], { stdio: ['ignore', 'pipe', 'pipe'] })
  renameSync(unfinished, folder)
}
