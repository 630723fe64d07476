import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const BUN = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`
const folder = mkdtempSync(join(tmpdir(), 'forgelet-installs-'))
let packed = ''

beforeAll(() => {
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [{ filename }] = JSON.parse(execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }))
  packed = join(folder, filename)
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const managers = ['pnpm@10.20.0', 'yarn@1.22.22', '@yarnpkg/cli-dist@4.12.0', `${BUN}@1.4.5`]
  execFileSync('npm', ['install', '--prefix', join(folder, 'managers'), ...quiet, ...managers], { stdio: 'pipe' })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

/** Each is told to fail where it would warn of a peer, if it can. */
const MANAGERS = [
  { name: 'npm', words: () => ['npm', 'install', '--strict-peer-deps', '--no-audit', '--no-fund'] },
  { name: 'pnpm', words: () => [process.execPath, tool('pnpm/bin/pnpm.cjs'), 'install', '--strict-peer-dependencies'] },
  { name: 'yarn 1', words: () => [process.execPath, tool('yarn/bin/yarn.js'), 'install', '--no-progress'] },
  { name: 'yarn 4', words: () => [process.execPath, tool('@yarnpkg/cli-dist/bin/yarn.js'), 'install'] },
  { name: 'bun', words: () => [tool(`${BUN}/bin/bun`), 'install'] },
]

describe.each(MANAGERS)('$name', ({ name, words }) => {
  test.each(['0.1.0', '99.0.0'])(
    'installs beside drivers of version %s without a word about them',
    (version) => {
      const host = join(folder, `${name}-${version}`)
      const drivers = ['better-sqlite3', 'mysql2', 'pg']
      for (const driver of drivers) {
        write(join(host, driver), { name: driver, version })
      }
      const dependencies = Object.fromEntries(drivers.map((driver) => [driver, `file:./${driver}`]))
      write(host, {
        name: 'host',
        version: '1.0.0',
        private: true,
        dependencies: { ...dependencies, forgelet: `file:${packed}` },
      })
      if (name === 'yarn 4') writeFileSync(join(host, 'yarn.lock'), '') // else it takes the folder for a part of another project
      const [program = '', ...rest] = words()
      const { status, stdout, stderr } = spawnSync(program, rest, {
        cwd: host,
        encoding: 'utf8',
        env: { ...process.env, YARN_ENABLE_IMMUTABLE_INSTALLS: 'false', YARN_ENABLE_TELEMETRY: 'false', CI: 'false' },
      })
      const said = `${stdout}${stderr}`

      expect(status, said).toBe(0)
      expect(said.split('\n').filter((line) => /peer|unmet|incorrect/i.test(line))).toEqual([])
    },
    120_000,
  )
})

function tool(path: string): string {
  return join(folder, 'managers/node_modules', path)
}

function write(place: string, manifest: object): void {
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
}
