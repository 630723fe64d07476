import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll } from 'vitest'

/** A folder for packages of the registry, until the tests of a file or a group are over. */
export function packageFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-packages-'))
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 3 }))
  return folder
}

/** Packs this package, as it is built in dist/, into a folder, and returns the file. */
export function packInto(folder: string): string {
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const cwd = resolve(import.meta.dirname, '..')
  const [{ filename }] = JSON.parse(execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: 'pipe' }))
  return join(folder, filename)
}

/** Installs packages, which takes up to a minute or two. */
export function installPackages(folder: string, packages: readonly string[]): void {
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...packages], { stdio: 'pipe' })
}

/** How long a hook that installs may take, in milliseconds. */
export const INSTALLATION = 300_000
