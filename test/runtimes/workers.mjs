// Workers on workerd, through the Miniflare that is installed for the tests.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * Starts a Worker on a port of the loopback.
 *
 * @param folder - where Miniflare is installed
 * @param file - the Worker, as one file
 * @param objects - the classes of its Durable Objects by their bindings; `{ className, useSQLite }`
 * @param flags - compatibility flags
 */
export async function startWorker({ folder, file, objects = {}, flags = [] }) {
  const { Miniflare } = createRequire(join(folder, 'package.json'))('miniflare')
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: await readFile(file, 'utf8') }],
    compatibilityDate: '2026-01-01',
    compatibilityFlags: flags,
    durableObjects: objects,
    cf: false, // or it would be asked for over the network
    // Straight to workerd: Miniflare's own entry is a Worker, and does not report when a client has gone.
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  })
  const { port } = await worker.unsafeGetDirectURL()
  return { port: Number(port), stop: () => worker.dispose() }
}
