import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { exitOf } from '../child-process.ts'
import { isAlive, killAll, signalAll } from './process-tree.ts'

/** A database server that a test has started, in a folder and on a port of its own: so that it can be killed. */
export interface OwnServer {
  /** The address of an empty database on it. */
  readonly url: string
  /** Kills every process of it, and waits until they are gone. */
  kill(): Promise<void>
  /** Stops every process of it where it is: connections stay open, and nothing is answered. */
  freeze(): void
  /** Lets a frozen server go on. */
  thaw(): void
  /** Starts it again over the same data, with settings such as `fsync=off`; done when it answers. */
  start(settings?: readonly string[]): Promise<void>
  /** Kills it and removes its folder. */
  drop(): Promise<void>
}

/** How a kind of server is made and started. */
export interface ServerRecipe {
  /** Who it runs as where the test is root, whom database servers refuse. */
  readonly user: string
  /** Fills the folder; each is a program and its arguments. */
  readonly install: (folder: string) => readonly (readonly string[])[]
  /** Runs it in the foreground. */
  readonly serve: (folder: string, port: number, settings: readonly string[]) => readonly string[]
  readonly url: (port: number) => string
  /** Asks it something; rejects while it does not answer. */
  readonly ask: (port: number) => Promise<void>
}

const MAX_START_MS = 60_000 // milliseconds

/** Makes a server and starts it. It dies with the process that called this, whatever becomes of that. */
export async function startOwnServer(recipe: ServerRecipe): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-server-'))
  chmodSync(folder, 0o700)
  if (isRoot()) execFileSync('chown', [recipe.user, folder])
  for (const command of recipe.install(folder))
    execFileSync('setpriv', privileges(recipe.user, command), { stdio: 'pipe' })

  const port = await freePort()
  let child = await serving(recipe, recipe.serve(folder, port, []), port)
  const kill = async (): Promise<void> => {
    if (child.pid !== undefined && isAlive(child.pid)) await killAll(child.pid)
    await exitOf(child)
  }

  return {
    url: recipe.url(port),
    kill,
    freeze: () => signalAll(child.pid, 'SIGSTOP'),
    thaw: () => signalAll(child.pid, 'SIGCONT'),
    async start(settings = []) {
      child = await serving(recipe, recipe.serve(folder, port, settings), port)
    },
    async drop() {
      await kill()
      rmSync(folder, { recursive: true })
    },
  }
}

async function serving(recipe: ServerRecipe, command: readonly string[], port: number): Promise<ChildProcess> {
  const child = spawn('setpriv', privileges(recipe.user, command), { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint = (complaint + chunk).slice(-4000)
  })

  const deadline = performance.now() + MAX_START_MS
  while (child.exitCode === null && performance.now() < deadline) {
    try {
      await recipe.ask(port)
      return child
    } catch {
      await pause(20)
    }
  }
  child.kill('SIGKILL')
  throw new Error(`the server did not start: ${complaint}`)
}

/** Runs a program as the user, and kills it when its parent dies. */
function privileges(user: string, command: readonly string[]): readonly string[] {
  const as = isRoot() ? ['--reuid', user, '--regid', user, '--clear-groups'] : []
  return [...as, '--pdeathsig', 'KILL', '--', ...command]
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new TypeError('a port was asked for')
  return address.port
}
