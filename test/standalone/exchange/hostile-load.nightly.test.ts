import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { peakOf } from '../../programs.ts'
import { newFolder, startForgeletProcess, startProgram } from '../../start-forgelet.ts'
import { issueRecord } from '../../world.ts'

const MAX_MEGABYTES = 1024
const MAX_WAIT_MS = 1500
const LOAD_MS = 20_000
const TOKEN = 'ada-token'
const FIXTURE = {
  users: [{ username: 'ada', tokens: [TOKEN] }],
  repositories: [
    { owner: 'ada', name: 'rocket' },
    { owner: 'ada', name: 'target' },
  ],
}

test('100 readers that do not read and 20 hostile uploads leave a server alive, and others wait for a moment', {
  timeout: 180_000,
}, async () => {
  const folder = await newFolder()
  const server = await startForgeletProcess(['--db', join(folder, 'forge.sqlite')], { fixture: FIXTURE })
  const records = Array.from({ length: 20_000 }, (_, at) => issueRecord(at + 1, { content: 'It flies. '.repeat(200) }))
  const imported = await fetch(`${server.url}/repos/ada/rocket/issues/import`, {
    method: 'POST',
    headers: { authorization: `token ${TOKEN}` },
    body: JSON.stringify(records),
  })
  expect(imported.status).toBe(200)

  const script = join(import.meta.dirname, 'hostile-clients.mjs')
  const clients = startProgram([script, server.url, TOKEN, String(LOAD_MS)])
  await clients.line()
  let isOver = false
  const ended = clients.ended.finally(() => {
    isOver = true
  })
  const waits: number[] = []
  while (!isOver) {
    const asked = performance.now()
    const { status } = await fetch(`${server.url}/repos/ada/rocket/new_pin_allowed`)
    waits.push(performance.now() - asked)
    expect(status).toBe(200)
    await after(50)
  }

  const { out } = await ended
  const answers: { readonly [what: string]: { readonly [status: string]: number } } = JSON.parse(
    out.split('\n')[1] ?? '',
  )
  expect(Object.keys(answers)).toHaveLength(6)
  for (const [what, statuses] of Object.entries(answers)) {
    expect([what, Object.keys(statuses).filter((status) => !REFUSALS.includes(status))]).toEqual([what, []])
  }
  expect(Math.max(...waits)).toBeLessThan(MAX_WAIT_MS)
  expect(peakOf(server.pid)).toBeLessThan(MAX_MEGABYTES)
  expect((await server.stop()).code).toBe(0)
})

/** Not valid, too large, too many at once; or the connection was closed while the body was sent. */
const REFUSALS = ['413', '422', '503', 'closed']
