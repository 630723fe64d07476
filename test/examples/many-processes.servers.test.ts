// The example imports the package by its name, and so what is built in dist/.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MARIADB, newDatabase, onDatabases, POSTGRES, SQLITE } from '../databases.ts'
import { Switches } from '../durability/switches.ts'
import type { RunningExample } from './running-example.ts'
import { startExample } from './running-example.ts'

const LANES = 8

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test('clients do not notice that every process is restarted under load, and a killed one is replaced', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'forgelet-many-processes-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const load = new Switches(LANES)
    writeFileSync(join(folder, 'fixture.json'), JSON.stringify(load.fixture))
    const database = await newDatabase(kind)
    const args = ['--fixture', join(folder, 'fixture.json'), '--max-pins', '1000']
    const example = await startExample('many-processes/start.mjs', { FORGELET_DB: database.url, PROCESSES: '2' }, args)
    onTestFinished(() => example.stop())
    const before = pids(example)

    load.start([{ url: example.url, is: 'up' }], () => false)
    try {
      await load.more(2 * LANES)
      example.signal('SIGHUP')
      await expect.poll(() => example.said.at(-1), { timeout: 60_000 }).toBe('every process was restarted')
    } finally {
      await load.stop()
    }
    expect(load.wrong).toEqual([])
    expect(pids(example).filter((pid) => before.includes(pid))).toEqual([])
    await load.expectAllIn(database.storage())

    const [first = 0] = pids(example)
    process.kill(first, 'SIGKILL')
    await expect.poll(() => pids(example).includes(first), { timeout: 60_000 }).toBe(false)
    const headers = { authorization: 'token root' }
    await fetch(`${example.url}/repos/acme/rocket/issues/1/pin`, { method: 'POST', headers })
    const list = await fetch(`${example.url}/repos/acme/rocket/issues/pinned`)
    const [issue]: readonly { readonly url: string }[] = JSON.parse(await list.text())
    expect(issue?.url).toContain(`${example.url}/repos/acme/rocket/issues/`) // links lead to the proxy
  }, 120_000)
})

test.each([[[]], [['--json']]])(
  'the proxy finds the processes with the options %j',
  async (options) => {
    const { url } = await newDatabase(SQLITE)
    const fixture = resolve(import.meta.dirname, '../../examples/many-processes/fixture.json')
    const env = { FORGELET_DB: url, PROCESSES: '1' }
    const example = await startExample('many-processes/start.mjs', env, ['--fixture', fixture, ...options])
    onTestFinished(() => example.stop())
    const reply = await fetch(`${example.url}/repos/acme/rocket/issues/pinned`)
    expect([reply.status, await reply.json()]).toEqual([200, [expect.objectContaining({ number: 1 })]])
  },
  60_000,
)

/** The processes that serve now: the last two that the example has named. */
function pids({ said }: RunningExample): readonly number[] {
  return said
    .flatMap((line) => /^process (\d+) serves /.exec(line)?.[1] ?? [])
    .map(Number)
    .slice(-2)
}
