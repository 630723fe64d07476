import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The snippets of the README run as they stand, against the built package (dist/), so that they cannot drift.

const root = resolve(import.meta.dirname, '../..')
let folder: string
let snippets: readonly string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-readme-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/forgelet'))
  await symlink(join(root, 'node_modules/better-sqlite3'), join(folder, 'node_modules/better-sqlite3'))
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  snippets = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
})

afterAll(() => rm(folder, { recursive: true }))

/** Starts one snippet in a folder where the package is installed. */
async function start(index: number): Promise<ChildProcess> {
  const file = join(folder, `snippet-${index}.mjs`)
  await writeFile(file, snippets[index] ?? 'throw new Error("there is no such snippet")')
  return spawn(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function finish(
  child: ChildProcess,
): Promise<{ readonly code: unknown; readonly out: string; readonly error: string }> {
  let out = ''
  let error = ''
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    error += chunk
  })
  const [code] = await once(child, 'close')
  return { code, out, error }
}

describe('the snippets of the README', () => {
  test('import the library into a host and pin in its transaction', async () => {
    expect(await finish(await start(0))).toEqual({ code: 0, out: 'issue 1 is pinned at 1\n', error: '' })
  })

  test('mount it on a server of the host', async () => {
    const child = await start(1)
    const [line] = await once(child.stdout ?? child, 'data')
    const reply = await fetch(String(line).trim())
    child.kill()
    expect([reply.status, await reply.json()]).toEqual([200, []])
  })

  test('test rules in isolation', async () => {
    expect(await finish(await start(2))).toEqual({ code: 0, out: '', error: '' })
  })
})
