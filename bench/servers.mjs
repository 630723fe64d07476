// Servers in processes of their own, and what a request costs them.
import { once } from 'node:events'
import { Pool, request } from 'undici'
import { per, startProcess } from './harness.mjs'

/** Starts the variant of a script that calls `runServer`, in a process of its own. */
export async function startServer(script, variant, options) {
  const { child, message } = await startProcess(script, [variant, ...options])
  return {
    origin: `http://127.0.0.1:${message.port}`,
    /** The CPU time of the process in microseconds. */
    async cpu() {
      child.send('report')
      const [{ user, system }] = await once(child, 'message')
      return user + system
    },
    stop: () => child.kill(),
  }
}

/** In the script of a server: starts the variant that `startServer` names, which returns its `http.Server`. */
export async function runServer(variants) {
  const [variant, ...options] = process.argv.slice(2)
  const server = await variants[variant](...options)
  server.keepAliveTimeout = 0 // a connection waits while the other sides have their turns
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  process.on('message', () => process.send(process.cpuUsage()))
  process.on('disconnect', () => process.exit())
  process.send({ port: server.address().port })
}

/**
 * A side in a process of its own: what its server pays for a request. Every response must have the status.
 *
 * @param next - returns the nth request
 * @param count - requests in a slice
 */
export function serverSide({ origin, cpu }, next, { status, count = 1000, warmUp = 10 * count, connections = 32 }) {
  const pool = new Pool(origin, { connections, pipelining: 1, keepAliveTimeout: 600_000 })
  let n = 0
  const run = (requests) => {
    const until = n + requests
    const send = async () => {
      while (n < until) {
        const { statusCode, body } = await pool.request(next(n++))
        const text = await body.text()
        if (statusCode !== status) throw new Error(`expected ${status}, received ${statusCode}: ${text.slice(0, 400)}`)
      }
    }
    return Promise.all(Array.from({ length: connections }, send))
  }
  return {
    warmUp: () => run(warmUp),
    async slice() {
      const [before, start] = [await cpu(), performance.now()]
      await run(count)
      const wall = (performance.now() - start) * 1000
      return per(count, { cpu: (await cpu()) - before, wall })
    },
    end: () => pool.destroy(),
  }
}

/** Sends one request and returns the response, to check it before anything is timed. */
export async function ask({ origin }, { path, ...options }) {
  const { statusCode, headers, body } = await request(origin + path, { ...options, reset: true })
  const { date: _, connection: __, 'keep-alive': ___, ...sent } = headers // Node adds these
  return { status: statusCode, headers: sent, body: await body.text() }
}

/** A request without a body. */
export function toRequest(method, path, authorization) {
  return { method, path: `/api/v1${path}`, headers: authorization === undefined ? {} : { authorization } }
}
