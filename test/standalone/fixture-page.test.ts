import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder, startForgelet } from '../start-forgelet.ts'

test('the command of the fixture page serves the example', async () => {
  const folder = await newFolder()
  const page = await readFile(join(import.meta.dirname, '../../docs/fixture.md'), 'utf8')
  const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? []
  const [, command = ''] = /```sh\nnpx forgelet serve (.*?)\n```/s.exec(page) ?? []
  await writeFile(join(folder, 'fixture.json'), example)
  const running = await startForgelet(command.split(' '), { folder })
  const reply = await fetch(`${running.url}/repos/acme/rocket/issues/pinned`)
  expect([reply.status, await reply.json()]).toMatchObject([200, [{ title: 'Read this first' }]])
})
