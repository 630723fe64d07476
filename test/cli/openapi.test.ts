import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lint } from '../http-adapters/routes/openapi/lint.ts'
import type { Served } from './command.ts'
import { runCommand, runInProcess, serveInProcess } from './command.ts'

// Real child processes of dist/cli.js where the document is printed; its variants in this process.

let folder: string
let served: Served | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-openapi-'))
})

afterEach(async () => {
  await served?.stop()
  served = undefined
  await rm(folder, { recursive: true })
})

const openapi = (...args: readonly string[]) => runInProcess(folder, ['openapi', ...args])
const openapiProcess = (...args: readonly string[]) => runCommand(folder, ['openapi', ...args])

describe('forgelet openapi', () => {
  test('prints the document as JSON in lines, and needs no database', async () => {
    const { code, out, err } = await openapiProcess()

    expect([code, err]).toEqual([0, ''])
    expect(out).toBe(`${JSON.stringify(JSON.parse(out), undefined, 2)}\n`)
    expect(JSON.parse(out)).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/api/v1' }] })
    expect(lint(JSON.parse(out))).toBe('')
    expect(await readdir(folder)).toEqual([])
  })

  test('prints it as one line with --json', async () => {
    const { out } = await openapi('--json')

    expect(out).toBe(`${JSON.stringify(JSON.parse(out))}\n`)
  })

  test.each(['-o', '--out'])(
    'writes it to a file with %s, over what was there, and nothing to stdout',
    async (option) => {
      const { out: printed } = await openapi()
      for (const run of [openapiProcess, openapi])
        expect(await run(option, 'api.json')).toEqual({ code: 0, out: '', err: '' })

      expect(await readFile(join(folder, 'api.json'), 'utf8')).toBe(printed)
    },
  )

  test.each([
    ['https://git.example.com', 'https://git.example.com/api/v1'],
    ['https://example.com/forge/', 'https://example.com/forge'],
  ])('names the server that clients reach at %s', async (address, url) => {
    expect(JSON.parse((await openapi('--public-url', address)).out)).toMatchObject({ servers: [{ url }] })
  })

  test.each([[[]], [['--public-url', 'https://git.example.com']]])(
    'prints what the server has at openapi.json, with %j',
    async (args) => {
      served = await serveInProcess(folder, ['--db', ':memory:', ...args])
      const reply = await fetch(`${served.url}/openapi.json`)

      expect(await reply.json()).toEqual(JSON.parse((await openapi(...args)).out))
    },
  )
})
