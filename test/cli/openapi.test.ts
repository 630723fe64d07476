import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { runForgelet, runForgeletProcess, startForgelet } from '../start-forgelet.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-openapi-'))
  return () => rm(folder, { recursive: true })
})

const openapi = (...args: readonly string[]) => runForgelet(['openapi', ...args], { folder })

describe('forgelet openapi', () => {
  test('prints the document as JSON in lines, and needs no database', async () => {
    const { code, out, err } = await runForgeletProcess(['openapi'], { folder })
    expect([code, err]).toEqual([0, ''])
    expect(out).toBe(`${JSON.stringify(JSON.parse(out), undefined, 2)}\n`)
    expect(JSON.parse(out)).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/api/v1' }] })
    expect(await readdir(folder)).toEqual([])
    expect((await openapi('--json')).out).toBe(`${JSON.stringify(JSON.parse(out))}\n`)
  })

  test.each(['-o', '--out'])('writes it to a file with %s, over what was there', async (option) => {
    const { out: printed } = await openapi()
    for (const _ of ['new', 'over it']) expect(await openapi(option, 'api.json')).toEqual({ code: 0, out: '', err: '' })
    expect(await readFile(join(folder, 'api.json'), 'utf8')).toBe(printed)
  })

  test.each([
    ['https://git.example.com', 'https://git.example.com/api/v1'],
    ['https://example.com/forge/', 'https://example.com/forge'],
  ])('names the server that clients reach at %s', async (address, url) => {
    expect(JSON.parse((await openapi('--public-url', address)).out)).toMatchObject({ servers: [{ url }] })
  })

  test.each([[[]], [['--public-url', 'https://git.example.com']]])(
    'prints what the server has at openapi.json, with %j',
    async (args) => {
      const { url } = await startForgelet(['--db', ':memory:', ...args])
      expect(await (await fetch(`${url}/openapi.json`)).json()).toEqual(JSON.parse((await openapi(...args)).out))
    },
  )
})
