// How the worlds are served on each runtime: a program of its own, or a Worker. Gives the port, and what ends it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../bundle.mjs'
import { startWorker } from '../workers.mjs'

const close = (socket) => socket.destroy()
/** workerd takes no notice of a client that has only ended its side. */
const reset = (socket) => socket.resetAndDestroy()

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
 * The servers by name. `kinds`: the storages or handlers that the path selects; `mounted`: those that the mount
 * contract is run over, but for the cases that are `excepted`; `leave`: how a client goes away so that the runtime notices.
 */
export const SERVERS = {
  // Between Fetch and Node is a bridge of the tests', which promises nothing.
  node: {
    kinds: ['node', 'fetch'],
    mounted: ['node'],
    excepted: [],
    leave: close,
    start: (parts) => startProgram('serve-node.mjs', [], parts),
  },
  bun: {
    kinds: ['memory', 'bun-sqlite'],
    mounted: ['memory', 'bun-sqlite'],
    excepted: [],
    leave: close,
    start: (parts) => startProgram('serve-bun.mjs', [], parts),
  },
  deno: {
    kinds: ['memory'],
    mounted: ['memory'],
    excepted: UNREAD,
    leave: close,
    start: (parts) => startProgram('serve-deno.mjs', ['run', '--allow-all'], parts),
  },
  workerd: {
    kinds: ['memory', 'durable-object'],
    mounted: ['memory', 'durable-object'],
    excepted: LEFT_TO_OTHERS,
    leave: reset,
    start: startWorlds,
  },
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
