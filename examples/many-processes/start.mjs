// Starts several processes of `forgelet serve` on one database, behind a proxy:
//
//   FORGELET_DB=postgres://forge@localhost/forge node examples/many-processes/start.mjs
//
// PROCESSES is their number (2), PORT that of the proxy (3000). Arguments go to each process: `--fixture world.json`.
// SIGHUP restarts one process after the other; clients do not notice it. SIGTERM and Ctrl-C stop all.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LoadBalancer } from './proxy.mjs'

const COUNT = Number(process.env.PROCESSES ?? 2)
const PORT = Number(process.env.PORT ?? 3000)
const PAUSE_AFTER_FAILURE_MS = 1000
const CLI = join(dirname(fileURLToPath(import.meta.resolve('forgelet/package.json'))), 'dist/cli.js')

const proxy = new LoadBalancer()
proxy.server.listen(PORT, '127.0.0.1')
await once(proxy.server, 'listening')
const publicUrl = `http://127.0.0.1:${proxy.server.address().port}`

/** A process ended before it served. It has printed the reason; `code` is its exit code. */
class StartError extends Error {
  constructor(code) {
    super('forgelet serve did not start')
    this.code = code
  }
}

/** One process, and the next one in its place when it ends. */
class Place {
  #process
  #isStopping = false

  /** Starts a process, and lets the proxy use it once it serves. */
  async start() {
    const args = ['serve', '--port', '0', '--public-url', publicUrl, ...process.argv.slice(2)]
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process = child
    const ended = once(child, 'exit')
    const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
    if (typeof line !== 'string') throw new StartError(child.exitCode ?? 1)
    const url = line.startsWith('{') ? JSON.parse(line).url : line // an object with --json

    const remove = proxy.add(url)
    ended.then(() => {
      remove()
      if (!this.#isStopping) this.#startAgain()
    })
    return `process ${child.pid} serves ${url}\n`
  }

  /** Stops the process: it finishes its requests and refuses new ones, which the proxy sends to another process. */
  async stop() {
    this.#isStopping = true
    const child = this.#process
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }

  async restart() {
    await this.stop()
    this.#isStopping = false
    await this.#startAgain()
  }

  kill() {
    this.#process?.kill('SIGKILL')
  }

  /** Tries until a process serves: its database may be away. */
  async #startAgain() {
    while (!this.#isStopping) {
      try {
        process.stdout.write(await this.start())
        return
      } catch {
        await pause(PAUSE_AFTER_FAILURE_MS)
      }
    }
  }
}

const places = Array.from({ length: COUNT }, () => new Place())
// Whatever ends this process ends the others too. A killed server loses nothing that it has acknowledged.
process.on('exit', () => {
  for (const place of places) place.kill()
})

const started = await Promise.all(places.map((place) => place.start())).catch((error) => {
  if (!(error instanceof StartError)) throw error
  process.exit(error.code)
})
process.stdout.write([`${publicUrl}/api/v1\n`, ...started].join(''))

let restarting = Promise.resolve()
process.on('SIGHUP', () => {
  restarting = restarting.then(restartAll)
})

async function restartAll() {
  for (const place of places) await place.restart()
  process.stdout.write('every process was restarted\n')
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    proxy.server.close()
    await Promise.all(places.map((place) => place.stop()))
    process.exit(0)
  })
}
