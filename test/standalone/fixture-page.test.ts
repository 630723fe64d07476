import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseFixture } from '../../src/standalone/fixture/parse-fixture.ts'
import { startServe } from '../cli/command.ts'

// The server is the built one: dist/cli.js.

async function pageParts(): Promise<{ readonly example: string; readonly command: string }> {
  const page = await readFile(join(import.meta.dirname, '../../docs/fixture.md'), 'utf8')
  const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? []
  const [, command = ''] = /```sh\nnpx forgelet serve (.*?)\n```/s.exec(page) ?? []
  return { example, command }
}

test('the example of the fixture page is a fixture', async () => {
  const { example } = await pageParts()
  expect(parseFixture(JSON.parse(example))).toMatchObject({ badges: [{ slug: 'night-owl' }] })
})

test('the command of the fixture page serves the example', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-fixture-page-'))
  const { example, command } = await pageParts()
  await writeFile(join(folder, 'fixture.json'), example)
  const running = await startServe(folder, command.split(' '))
  const reply = await fetch(`${running.url}/repos/acme/rocket/issues/pinned`)
  await running.stop()
  await rm(folder, { recursive: true })

  expect([reply.status, await reply.json()]).toMatchObject([200, [{ title: 'Read this first' }]])
})
