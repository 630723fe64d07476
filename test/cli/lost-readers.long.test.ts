import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

// Real child processes of dist/cli.js whose output is no longer read.

const cli = resolve(import.meta.dirname, '../../dist/cli.js')
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-readers-'))
})

afterEach(() => rm(folder, { recursive: true }))

test.each([
  ['stdout', ['stdout']],
  ['stderr', ['stderr']],
  ['stdout and stderr', ['stdout', 'stderr']],
] as const)('serves on, and stops as asked, when the reader of %s has gone', async (_, gone) => {
  const port = await freePort()
  const args = ['serve', '--db', ':memory:', '--port', String(port)]
  const child = spawn(process.execPath, [cli, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  for (const stream of gone) child[stream].destroy()

  await Promise.race([untilServed(`http://127.0.0.1:${port}/api/v1/version`), ended])
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The first line is written just after the server opens: it is asked twice, so that the line has been written. */
async function untilServed(url: string): Promise<void> {
  for (let served = 0; served < 2; ) {
    const reply = await fetch(url).catch(() => undefined)
    if (reply?.status === 200) served += 1
    else await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
