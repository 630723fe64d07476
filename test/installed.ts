import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

/** Packages of the registry in a temporary folder, for the tests of a file. */
export function installed(packages: readonly string[], minutes = 5): string {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-installed-'))
  beforeAll(() => {
    const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...packages], { stdio: 'pipe' })
  }, minutes * 60_000)
  afterAll(() => rmSync(folder, { recursive: true }))
  return folder
}
