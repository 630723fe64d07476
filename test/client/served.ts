import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { world } from './world.ts'

const cli = resolve(import.meta.dirname, '../../dist/cli.js')

/** A running `forgelet serve`. */
export interface Served {
  /** With the API's prefix, without a trailing slash. */
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts `forgelet serve` on a free port with the world as its fixture.
 *
 * @param storage - `:memory:`, or `file` for a database file of its own
 * @param flags - further flags of the command
 */
export async function serve(storage: ':memory:' | 'file', flags: readonly string[] = []): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-client-'))
  const fixture = join(folder, 'world.json')
  await writeFile(fixture, JSON.stringify(world))
  const db = storage === 'file' ? join(folder, 'forge.sqlite') : storage
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0', '--db', db, '--fixture', fixture, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = await addressOf(child)

  return {
    url,
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      await rm(folder, { recursive: true })
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let complaint = ''
  child.stderr?.on('data', (chunk) => {
    complaint += chunk
  })
  if (child.stdout !== null) {
    for await (const line of createInterface({ input: child.stdout })) {
      const address = /http:\/\/\S+/.exec(line)?.[0]
      if (address !== undefined) return `${new URL(address).origin}/api/v1`
    }
  }
  throw new Error(`forgelet serve did not start: ${complaint}`)
}
