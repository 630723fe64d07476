import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { mountContract, storageContract } from '../../app/testing/testing.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { newFolder, startProgram } from '../start-forgelet.ts'

// The JavaScript of the pages about the contracts runs as it stands, against the built package, under the runners that they name.

const root = resolve(import.meta.dirname, '../..')
const storages = storageContract(async () => memoryStorage())
const mounts = mountContract(() => Promise.reject(new Error('not run')))

describe.each([
  ['docs/writing-a-storage.md', storages.length, [1]],
  ['docs/mount-contract.md', mounts.length, [1, 2]],
] as const)('the snippets of %s', (page, count, known) => {
  let folder: string
  let snippets: readonly string[]

  beforeAll(async () => {
    folder = await newFolder()
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules/forgelet'))
    for (const name of ['better-sqlite3', 'vitest']) {
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
    const text = await readFile(join(root, page), 'utf8')
    snippets = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
  })

  async function run(index: number, ...args: readonly string[]): Promise<string> {
    const file = `snippet-${index}.test.mjs`
    await writeFile(join(folder, file), snippets[index] ?? '')
    const { code, out } = await startProgram([...args, file], { folder }).ended
    expect(code).toBe(0)
    return out
  }

  test('run every case of the contract with node --test', { timeout: 120_000 }, async () => {
    expect(await run(0, '--test', '--test-reporter=tap')).toContain(`# pass ${count}\n`)
  })

  test.each(known)('run the contract with vitest, and what it may know: %i', { timeout: 240_000 }, async (index) => {
    const out = await run(index, join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=json')
    const report: unknown = JSON.parse(out.slice(out.indexOf('{')))

    expect(report).toMatchObject({ numFailedTests: 0, numPendingTests: 0 })
  })
})
