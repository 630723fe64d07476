import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mountContract } from '../../src/testing/testing.ts'

// The snippets of the README run as they stand, against the built package (dist/), so that they cannot drift.

/** Where the snippet that listens does so, in place of 3000, which may be taken. */
const PORT = 20_000 + (process.pid % 20_000)
const root = resolve(import.meta.dirname, '../..')
let folder: string
let snippets: readonly string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-readme-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/forgelet'))
  for (const name of ['@types', 'better-sqlite3', 'express', 'pg', 'pg-types', 'pg-protocol', 'undici-types']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  snippets = typescriptIn(readme)
})

afterAll(() => rm(folder, { recursive: true }))

function typescriptIn(page: string): readonly string[] {
  return [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
}

/** Starts one snippet in a folder where the package is installed. */
async function start(index: number): Promise<ChildProcess> {
  const file = join(folder, `snippet-${index}.mjs`)
  const code = snippets[index] ?? 'throw new Error("there is no such snippet")'
  await writeFile(file, ts.transpile(code.replaceAll('3000', String(PORT)), OPTIONS, 'snippet.mts'))
  return spawn(process.execPath, [file], {
    cwd: folder,
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
    expect(await finish(await start(1))).toEqual({ code: 0, out: 'issue 1 is pinned at 1\n', error: '' })
  })

  test('mount it on a server of the host', async () => {
    const child = await start(2)
    const [line] = await once(child.stdout ?? child, 'data')
    const reply = await fetch(String(line).trim())
    child.kill()
    expect([reply.status, await reply.json()]).toEqual([200, []])
  })

  test('test rules in isolation', async () => {
    expect(await finish(await start(3))).toEqual({ code: 0, out: '', error: '' })
  })

  test('need the type of a transaction that the host names', async () => {
    const [code = ''] = snippets
    const withoutClient = code.replace('postgresStorage<pg.PoolClient>', 'postgresStorage')
    expect(withoutClient).not.toBe(code)
    expect(await mistakesOf({ 'untyped.mts': withoutClient })).not.toEqual([])
  })
})

describe('the mount contract over the server of the README', () => {
  let child: ChildProcess
  beforeAll(async () => {
    child = await start(2)
    await once(child.stdout ?? child, 'data')
  })
  afterAll(() => child.kill())

  const mounted = async () => ({ origin: `http://127.0.0.1:${PORT}`, prefix: '/api/v1', stop: async () => undefined })
  const known = {
    services: ['pins', 'blocks', 'badges', 'signing-keys'],
    authorization: 'Bearer olga-token',
    organization: 'acme',
    repository: 'acme/rocket',
  } as const
  for (const { name, run } of mountContract(mounted, known)) test(name, run)
})

describe.each([true, false])('with exactOptionalPropertyTypes %s', (exactOptionalPropertyTypes) => {
  test('the TypeScript of the README and of the pages compiles in a strict program', async () => {
    const docs = join(root, 'docs')
    const pages = (await readdir(docs)).filter((name) => name.endsWith('.md'))
    const texts = await Promise.all(pages.map((name) => readFile(join(docs, name), 'utf8')))
    const onPages = texts.flatMap((text) => typescriptIn(text)).map((code) => `${PREAMBLE}${code}`)
    const codes = [...snippets, ...onPages]

    expect([snippets.length, onPages.length]).toEqual([4, 1])
    const files = Object.fromEntries(codes.map((code, index) => [`strict-${index}.mts`, code]))
    expect(await mistakesOf(files, { exactOptionalPropertyTypes })).toEqual([])
  })
})

/** What docs/mounting.md says is the host's. */
const PREAMBLE = `
import type { IncomingMessage } from 'node:http'
import type express from 'express'
import type { Api } from 'forgelet/http'
import { expressHandler } from 'forgelet/express'
import { fetchHandler } from 'forgelet/fetch'
import { nodeHandler } from 'forgelet/node'
interface User { readonly id: number }
interface Environment { readonly DB: { readonly database: true } }
declare const api: Api<User>
declare function sessionOf(cookie: string | undefined): Promise<User | null>
declare function userAt(address: string | undefined): User | null
declare function userOf(request: Request, database: Environment['DB']): Promise<User | null>
`

const OPTIONS: ts.CompilerOptions = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 }

/** What the compiler says of files in the folder, as strictly as it can. */
async function mistakesOf(
  codes: Readonly<Record<string, string>>,
  options: ts.CompilerOptions = {},
): Promise<readonly string[]> {
  for (const [name, code] of Object.entries(codes)) await writeFile(join(folder, name), code)
  const program = ts.createProgram(
    Object.keys(codes).map((name) => join(folder, name)),
    {
      ...OPTIONS,
      ...options,
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(folder, 'node_modules/@types')],
      preserveSymlinks: true,
      skipLibCheck: true,
    },
  )
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
