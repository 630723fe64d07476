import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ForgeError } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
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

describe('the cases that race', () => {
  const open = async () => memoryStorage()
  const ending = ', from two storages'
  const racing = storageContract(open, { again: open })
    .map(({ name }) => name)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
  const casesOn = (isBusy: (call: number) => boolean) =>
    storageContract(async () => busyStorage(isBusy)).filter(({ name }) => racing.includes(name))

  test('accept that a storage refuses calls as busy, and make those again', async () => {
    const cases = casesOn((call) => call % 3 === 0)
    for (const one of cases) await one.run()

    expect(cases.length).toBeGreaterThan(30)
  })

  test('do not accept a storage that is always busy', async () => {
    for (const one of casesOn(() => true)) await expect(one.run()).rejects.toThrow()
  })
})

describe('the list of cases', () => {
  const open = async () => memoryStorage()

  test('has no name twice', () => {
    const names = storageContract(open, {
      textIds: open,
      again: open,
      beside: open,
      begin: fails,
      beginSnapshot: fails,
      beginReadCommitted: fails,
    }).map(({ name }) => name)

    expect(new Set(names).size).toBe(names.length)
  })

  test('leaves out what needs more than the host gives, and nothing else', () => {
    const alone = storageContract(open).map(({ name }) => name)
    const withIds = storageContract(open, { textIds: open, again: undefined }).map(({ name }) => name)

    expect(withIds.filter((name) => !alone.includes(name))).not.toEqual([])
    expect(alone.filter((name) => !withIds.includes(name))).toEqual([])
  })
})

/** A storage that refuses some of its calls, by their number. */
function busyStorage(isBusy: (call: number) => boolean): ForgeStorage<undefined> {
  let calls = 0
  const refusing = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method

        return async (...values: unknown[]) => {
          calls += 1
          if (isBusy(calls)) throw new ForgeError('STORAGE_BUSY', 'others are in the way', { retry: 'call' })
          return Reflect.apply(method, target, values)
        }
      },
    })
  const { pinBoards, blocks, userBadges, badgeCatalogue, events, ...rest } = memoryStorage()
  const { retire } = refusing({ retire: rest.retire })
  return {
    ...rest,
    retire,
    pinBoards: refusing(pinBoards),
    blocks: refusing(blocks),
    userBadges: refusing(userBadges),
    badgeCatalogue: refusing(badgeCatalogue),
    events: refusing(events),
  }
}

function fails(): never {
  throw new Error('no case of this list is run')
}
