import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Host } from '../http-adapters/hosts/host.ts'
import { serveFromMemory, serveMounted } from './memory-server.ts'
import { world } from './world.ts'

const cli = resolve(import.meta.dirname, '../../dist/cli.js')

/** A running server. */
export interface Served {
  /** With the API's prefix, without a trailing slash. */
  readonly url: string
  stop(): Promise<void>
}

/** How a server is started. */
export interface ServeOptions {
  /** The file of its signing key; default: it has none. */
  readonly signingKey?: string | undefined
  /** The URL of the API for clients; default: that of the server. */
  readonly publicUrl?: string | undefined
}

/** Where a server keeps its data: `forgelet serve` in SQLite (`:memory:`, or a file of its own), or no SQLite, in `memory`. */
export type Keeping = ':memory:' | 'file' | 'memory'

/** Starts a server with these options. */
export type StartServer = (options?: ServeOptions) => Promise<Served>

/** Starts a server on a free port with the world as its fixture: our server, or one of a framework in which the API is mounted. */
export async function serve(where: Keeping | Host, options: ServeOptions = {}): Promise<Served> {
  if (typeof where === 'object') return serveMounted(where, options)
  return where === 'memory' ? serveFromMemory(options) : serveFromSqlite(where, options)
}

function serveFromSqlite(keeping: ':memory:' | 'file', options: ServeOptions): Promise<Served> {
  return serveFrom((folder) => (keeping === 'file' ? join(folder, 'forge.sqlite') : keeping), options)
}

/**
 * Starts `forgelet serve` on a free port.
 *
 * @param databaseIn - the database, as `--db` names it; a file may be in the folder of the server
 * @param fixture - default: the world
 */
export async function serveFrom(
  databaseIn: (folder: string) => string,
  { signingKey, publicUrl }: ServeOptions = {},
  fixture: object = world,
): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-client-'))
  const file = join(folder, 'world.json')
  await writeFile(file, JSON.stringify(fixture))
  const db = databaseIn(folder)
  const flags = [
    ...(signingKey === undefined ? [] : ['--signing-key', signingKey]),
    ...(publicUrl === undefined ? [] : ['--public-url', publicUrl]),
  ]
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0', '--db', db, '--fixture', file, ...flags], {
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
