// How the worlds are served on each runtime: a program of its own, or a Worker. Gives the port, and what ends it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../bundle.mjs'
import { startWorker } from '../workers.mjs'

/** Cases of the mount contract that a runtime decides itself: it ends a connection when the body was not read. */
const UNREAD = ['a connection stays usable after an unread body']
/** workerd stands behind other servers, and leaves to them what is odd, what comes too late, and clients that just leave. */
const LEFT_TO_OTHERS = [
  ...UNREAD,
  'a connection stays usable after a body over the limit',
  'a target in absolute form counts as its path',
  'a malformed Host header causes no failure',
  'a request with two Host headers causes no failure',
  'a body over the limit is 413, also to a client that reads late',
  'an import over the limit is 413',
  'a client that disconnects aborts the signal that the ports receive',
]

/**
 * The servers by name. `kinds`: the storages or handlers that the path selects; `excepted`: the cases of the mount contract
 * that are left out; `resets`: whether the runtime notices only clients that reset their connection, which the contract does not.
 */
export const SERVERS = {
  node: { kinds: ['node'], excepted: [], start: (parts) => startProgram('serve-node.mjs', [], parts) },
  bun: { kinds: ['memory', 'bun-sqlite'], excepted: [], start: (parts) => startProgram('serve-bun.mjs', [], parts) },
  deno: {
    kinds: ['memory'],
    excepted: UNREAD,
    start: (parts) => startProgram('serve-deno.mjs', ['run', '--allow-all'], parts),
  },
  workerd: { kinds: ['memory', 'durable-object'], excepted: LEFT_TO_OTHERS, resets: true, start: startWorlds },
}

/**
 * @param program - runs scripts
 * @param folder - where bundles go, and Miniflare is
 * @param dist - of the built package
 */
async function startProgram(name, args, { program, folder, dist }) {
  const file = await bundle({ entry: join(import.meta.dirname, name), dist, outfile: join(folder, name) })
  const databases = mkdtempSync(join(tmpdir(), 'forgelet-runtimes-'))
  const child = spawn(program, [...args, file, databases], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' },
  })
  const isOver = once(child, 'close')
  const [line] = await Promise.race([once(child.stdout, 'data'), isOver])
  if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)

  return {
    port: Number(line),
    async stop() {
      child.kill()
      await isOver
      rmSync(databases, { recursive: true })
    },
  }
}

async function startWorlds({ folder, dist }) {
  const entry = join(import.meta.dirname, 'worker.mjs')
  const file = await bundle({ entry, dist, outfile: join(folder, 'worker.mjs'), whole: true })
  return startWorker({
    folder,
    file,
    objects: { WORLDS: { className: 'WorldObject', useSQLite: true } },
    flags: ['enable_request_signal'], // or the client’s end is not reported
  })
}
