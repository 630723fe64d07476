import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { storageContract } from '../../src/testing/testing.ts'

// The snippets of docs/writing-a-storage.md run as they stand, under the runners they name, against the built package (dist/).

const root = resolve(import.meta.dirname, '../..')
const PAGE = 'docs/writing-a-storage.md'
let folder: string
let snippets: readonly string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-contract-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/forgelet'))
  for (const name of ['better-sqlite3', 'vitest']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
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
  test('run the contract with node --test', { timeout: 120_000 }, async () => {
    await writeFile(join(folder, 'memory.test.mjs'), snippets[0] ?? '')
    const { code, out } = await runs(['--test', '--test-reporter=tap', 'memory.test.mjs'])

    expect(out).toContain(`# pass ${storageContract(async () => memoryStorage()).length}\n`)
    expect(code).toBe(0)
  })

  test('run the contract with vitest, and a host', { timeout: 240_000 }, async () => {
    await writeFile(join(folder, 'sqlite.test.mjs'), snippets[1] ?? '')
    const { code, out } = await runs([
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=json',
      'sqlite.test.mjs',
    ])
    const report: unknown = JSON.parse(out.slice(out.indexOf('{')))

    expect(report).toMatchObject({ numFailedTests: 0, numPendingTests: 0 })
    expect(code).toBe(0)
  })
})
