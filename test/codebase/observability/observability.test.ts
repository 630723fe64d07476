import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { newFolder } from '../../start-forgelet.ts'

// The programs of docs/observability.md run as they stand, against the built package (dist/), so that they cannot drift.

const root = resolve(import.meta.dirname, '../../..')
const PAGE = 'docs/observability.md'
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
let folder: string
let programs: readonly string[]

beforeAll(async () => {
  folder = await newFolder()
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/forgelet'))
  await symlink(pinoFolder(), join(folder, 'node_modules/pino'))
  await copyFile(join(import.meta.dirname, 'host.mjs'), join(folder, 'host.mjs'))
  const page = await readFile(join(root, PAGE), 'utf8')
  programs = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
})

/** Fastify brings it. */
function pinoFolder(): string {
  const fastify = createRequire(import.meta.url).resolve('fastify')
  return resolve(createRequire(fastify).resolve('pino'), '..')
}

/** Runs a text that imports one of the programs as `./program.mjs`; gives the JSON that was written, line by line. */
async function run(index: number, text: string, logged = /^$/): Promise<readonly Record<string, unknown>[]> {
  await writeFile(join(folder, 'program.mjs'), programs[index] ?? 'throw new Error("there is no such program")')
  await writeFile(join(folder, 'run.mjs'), `${text}\n${WRITE}`)
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['run.mjs'], { cwd: folder })
  expect(stderr).toMatch(logged)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const WRITE = "function write(line) { process.stdout.write(JSON.stringify(line) + '\\n') }"

const ASK = `
const ask = async (path) => {
  const request = { method: 'GET', path, query: '', header: () => undefined, body: () => undefined }
  return JSON.parse((await api.dispatch(request, () => null)).body)
}`

describe(`the programs of ${PAGE}`, () => {
  test('log a failure with pino, under the id that the reply names', async () => {
    const reported = await run(0, `import { api } from './program.mjs'\n${ASK}\nwrite(await ask('/orgs/acme/blocks'))`)
    const entry = reported.find((line) => 'level' in line) // pino writes in its own time: before the reply or after it
    const reply = reported.find((line) => 'code' in line)

    expect(entry).toMatchObject({
      level: 50,
      msg: 'request failed',
      operationId: 'organizationListBlocks',
      requestId: reply?.['requestId'],
      error: { message: 'the accounts are away', stack: expect.stringContaining('host.mjs') },
    })
    expect(reply).toMatchObject({ code: 'INTERNAL', requestId: expect.stringMatching(UUID) })
  })

  test('publish requests and operations of the storage on channels', async () => {
    const [operation, request] = await run(
      1,
      `import { subscribe } from 'node:diagnostics_channel'
      import { api } from './program.mjs'
      subscribe('forgelet.request', write)
      subscribe('forgelet.storage', write)
      ${ASK}
      await ask('/repos/acme/rocket/issues/pinned')`,
    )

    expect(operation).toMatchObject({ store: 'pinBoards', operation: 'load', outcome: 'done' })
    expect(request).toMatchObject({ path: '/repos/{owner}/{repo}/issues/pinned', status: 200 })
  })

  test('name a failure by the id that a proxy sent, unless that is invalid', async () => {
    const replies = await run(
      2,
      `import { server } from './program.mjs'
      await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
      const url = 'http://127.0.0.1:' + server.address().port + '/orgs/acme/blocks'
      for (const sent of ['from-the-proxy', 'one two', undefined]) {
        const reply = await fetch(url, { headers: sent === undefined ? {} : { 'x-request-id': sent } })
        write({ header: reply.headers.get('x-request-id'), body: (await reply.json()).requestId })
      }
      server.close()`,
      /^forgelet: request failed \{\n {2}requestId: 'from-the-proxy',/, // without a logger, failures go to the console
    )

    expect(replies).toEqual([
      { header: 'from-the-proxy', body: 'from-the-proxy' },
      { header: expect.stringMatching(UUID), body: replies[1]?.['header'] },
      { header: expect.stringMatching(UUID), body: replies[2]?.['header'] },
    ])
  })
})
