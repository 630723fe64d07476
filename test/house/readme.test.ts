import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The snippets of the README run as they stand, against the built package (dist/), so that they cannot drift.

const root = resolve(import.meta.dirname, '../..')
let folder: string
let snippets: readonly string[]
let typed: readonly string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-readme-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/forgelet'))
  await mkdir(join(folder, 'node_modules/@types'))
  for (const name of [
    'better-sqlite3',
    'express',
    'pg',
    'pg-types',
    'pg-protocol',
    '@types/pg',
    '@types/node',
    'undici-types',
  ]) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  snippets = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
  typed = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
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

  test('name the types of a host in TypeScript, and no more of them than are needed', async () => {
    const [code = ''] = typed
    expect(typed).toHaveLength(1)
    expect(await mistakesOf('typed.mts', code)).toEqual([])
    const withoutClient = code.replace('postgresStorage<pg.PoolClient>', 'postgresStorage')
    expect(await mistakesOf('untyped.mts', withoutClient)).not.toEqual([])
  })
})

/** What the compiler says of a file in the folder, as strictly as it can. */
async function mistakesOf(name: string, code: string): Promise<readonly string[]> {
  const file = join(folder, name)
  await writeFile(file, code)
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(folder, 'node_modules/@types')],
    preserveSymlinks: true,
    skipLibCheck: true,
  })
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

test('an example runs from the package, as the README says', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const [, example = ''] = /^node (node_modules\/forgelet\/examples\/\S+)$/m.exec(readme) ?? []
  const child = spawn(process.execPath, [example], {
    cwd: folder,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  child.kill()
  await once(child, 'close')

  expect(String(line)).toMatch(/http:\/\/127\.0\.0\.1:\d+/)
})
