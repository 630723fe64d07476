import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { copyNativeDriver, ROOT, servesElsewhere } from './served.ts'

const tools = mkdtempSync(join(tmpdir(), 'forgelet-bundlers-'))
const load = createRequire(join(tools, 'index.js'))

beforeAll(() => {
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const packages = ['webpack@5.113.0', '@vercel/nft@1.11.5']
  execFileSync('npm', ['install', '--prefix', tools, ...quiet, ...packages], { stdio: 'pipe' })
}, 120_000)
afterAll(() => rmSync(tools, { recursive: true }))

/** CommonJS as Nest makes it, and an ES module. */
const COMMONJS = { output: { filename: 'host.cjs' }, externalsType: 'commonjs' }
const ES_MODULE = {
  output: { filename: 'host.mjs', module: true },
  externalsType: 'module',
  experiments: { outputModule: true },
}

describe.each([
  ['CommonJS', 'host.mjs', COMMONJS],
  ['CommonJS', 'host.cjs', COMMONJS],
  ['an ES module', 'host.mjs', ES_MODULE],
])('what webpack makes, %s of %s', (_format, source, { output, ...format }) => {
  servesElsewhere(async (folder) => {
    await webpack({
      mode: 'production',
      target: 'node',
      context: ROOT,
      entry: `./test/codebase/bundles/${source}`,
      output: { path: folder, ...output },
      externals: ['better-sqlite3'], // in an ES module it sees native drivers too
      ...format,
    })
    copyNativeDriver(folder)
    return join(folder, output.filename)
  })
})

/** As Nitro, Next and Vercel copy what a program loads. */
describe.each(['host.mjs', 'host.cjs'])('the files that nft finds from %s', (source) => {
  servesElsewhere(async (folder) => {
    const file = `test/codebase/bundles/${source}`
    const { fileList } = await load('@vercel/nft').nodeFileTrace([join(ROOT, file)], { base: ROOT })
    for (const name of fileList) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
    return join(folder, file)
  })
})

function webpack(configuration: object): Promise<void> {
  return new Promise((resolve, reject) => {
    load('webpack')(configuration, (error: Error | null, stats: { hasErrors(): boolean; toString(): string }) => {
      if (error === null && !stats.hasErrors()) resolve()
      else reject(error ?? new Error(stats.toString()))
    })
  })
}
