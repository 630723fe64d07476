import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { describeWith } from '../programs.ts'
import { newFolder, startProgram } from '../start-forgelet.ts'

// The demo as `npm start` runs it after the build (dist/), in a folder of its own.

const script = resolve(import.meta.dirname, '../../demo/start.mjs')
const run = promisify(execFile)
let folder: string

beforeAll(async () => {
  folder = await newFolder()
})

const start = (port: string) => startProgram([script, '--port', port], { folder })

async function demo(): Promise<{ readonly welcome: string; stop(): Promise<number | null> }> {
  const { says, lines, stop } = start('0')
  await says('Ctrl-C stops it')
  return { welcome: lines().join('\n'), stop: async () => (await stop()).code }
}

test('the demo ends as its server does, which reports the reason', async () => {
  const err = expect.stringMatching(/^forgelet: [^\n]* Give an integer from 0 to 65535; [^\n]*\n$/)
  expect(await start('http').ended).toEqual({ code: 2, out: '', err })
})

describeWith(['curl', 'sh'], 'the demo', () => {
  test('prints an address, a token and five curl lines that work, and keeps its data', async () => {
    const first = await demo()
    expect(first.welcome).toMatch(/The demo forge is at http:\/\/127\.0\.0\.1:\d+\/api\/v1\n.*: alice-token /)
    const lines = first.welcome.split('\n').filter((line) => line.startsWith('  curl '))
    expect(lines).toHaveLength(5)
    const replies = await Promise.all(
      lines.map(async (line) => (await run('sh', ['-c', `${line} --silent --show-error --fail`])).stdout),
    )
    expect(replies[0]).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----/)
    expect(replies[2]).toMatch(/^HTTP\/1\.1 204 /)
    expect(JSON.parse(replies[3] ?? '')).toMatchObject([{ login: 'bot-9000' }])
    expect(JSON.parse(replies[4] ?? '')).toMatchObject([{ slug: 'night-owl' }])
    expect(await first.stop()).toBe(0)
    expect((await readdir(join(folder, '.demo'))).sort()).toEqual(['forgelet.sqlite', 'signing-key.asc'])

    const second = await demo()
    const url = /http:\S+/.exec(second.welcome)?.[0]
    const pinned = await (await fetch(`${url}/repos/harbor/tide-table/issues/pinned`)).json()
    expect(pinned).toMatchObject([{ number: 1 }, { number: 3 }, { number: 5 }])
    const key = await (await fetch(`${url}/signing-key.gpg`)).text()
    expect(key).toBe(replies[0])
    expect(await second.stop()).toBe(0)
  })
})
