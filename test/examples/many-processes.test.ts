// The example imports the package by its name, and so what is built in dist/.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startExample } from './running-example.ts'

test.each([[[]], [['--json']]])(
  'the proxy finds the processes with the options %j',
  async (options) => {
    const folder = mkdtempSync(join(tmpdir(), 'forgelet-many-processes-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const fixture = resolve(import.meta.dirname, '../../examples/many-processes/fixture.json')
    const env = { FORGELET_DB: join(folder, 'forge.sqlite'), PROCESSES: '1' }
    const example = await startExample('many-processes/start.mjs', env, ['--fixture', fixture, ...options])
    onTestFinished(() => example.stop())
    const reply = await fetch(`${example.url}/repos/acme/rocket/issues/pinned`)
    expect([reply.status, await reply.json()]).toEqual([200, [expect.objectContaining({ number: 1 })]])
  },
  60_000,
)
