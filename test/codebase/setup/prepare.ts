// Before the tests: builds what of the package runs, if a source is newer than the build, and says which servers there are not.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import type { TestProject } from 'vitest/node'

const SERVERS = ['FORGELET_TEST_POSTGRES_URL', 'FORGELET_TEST_MARIADB_URL']

export function setup({ name }: TestProject): void {
  if (process.env['FORGELET_TEST_NO_BUILD'] !== '1') buildIfOlder()
  const missing = name === 'quick' || process.env['FORGELET_REQUIRE_DB'] === '1' ? [] : SERVERS
  for (const variable of missing) {
    if (!process.env[variable]) process.stderr.write(`\nSKIPPED: the tests that need the server in ${variable}\n`)
  }
}

/** ES modules alone, in a second. Whoever needs CommonJS or declarations runs `npm run build`. */
function buildIfOlder(): void {
  const sources = ['src', 'app'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  const configs = ['tsup.config.ts', 'tsup.app.config.ts']
  const changed = Math.max(...[...sources, ...configs, 'package-lock.json'].map(changedAt))
  if (changedAt('dist/cli.js') > changed) return

  for (const config of configs) {
    const words = ['node_modules/tsup/dist/cli-default.js', '--no-dts', '--no-treeshake', '--format', 'esm']
    const { status, stdout, stderr } = spawnSync(process.execPath, [...words, '--config', config], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`the build failed:\n${stdout}${stderr}`)
  }
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
