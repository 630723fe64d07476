import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mountContract } from '../../src/testing/testing.ts'

// The snippets of docs/mount-contract.md run as they stand, under the runners they name, against the built package (dist/).

const root = resolve(import.meta.dirname, '../..')
const PAGE = 'docs/mount-contract.md'
let folder: string
let snippets: readonly string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-mount-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/forgelet'))
  await symlink(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
  const page = await readFile(join(root, PAGE), 'utf8')
  snippets = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
})

afterAll(() => rm(folder, { recursive: true }))

async function runs(args: readonly string[]): Promise<{ readonly code: unknown; readonly out: string }> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const [code] = await once(child, 'close')
  return { code, out }
}

describe(`the snippets of ${PAGE}`, () => {
  test('run the contract with node --test, and nothing known', { timeout: 120_000 }, async () => {
    await writeFile(join(folder, 'alone.test.mjs'), snippets[0] ?? '')
    const { code, out } = await runs(['--test', '--test-reporter=tap', 'alone.test.mjs'])

    expect(out).toContain(`# pass ${mountContract(() => Promise.reject(new Error('not run'))).length}\n`)
    expect(code).toBe(0)
  })

  test('run the contract with vitest, and what it may know', { timeout: 120_000 }, async () => {
    await writeFile(join(folder, 'known.test.mjs'), snippets[1] ?? '')
    const { code, out } = await runs([
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=json',
      'known.test.mjs',
    ])
    const report: unknown = JSON.parse(out.slice(out.indexOf('{')))

    expect(report).toMatchObject({ numFailedTests: 0, numPendingTests: 0 })
    expect(code).toBe(0)
  })
})
