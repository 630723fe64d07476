import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A way to a server that counts the round trips over it: how often a client sends something after it was answered. */
export interface CountingProxy {
  readonly url: string
  /** Returns how many round trips the work takes. */
  count(work: () => Promise<unknown>): Promise<number>
  end(): void
}

/**
 * Opens a counting proxy in front of a server.
 * @param latency - how long an answer takes to come back, in milliseconds
 */
export async function countingProxy(target: string, defaultPort: number, latency = 0): Promise<CountingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let roundTrips = 0

  const server = createServer((client) => {
    const upstream = connect(Number(port || defaultPort), hostname)
    let isAnswered = true
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.on('error', ignore).on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (data) => {
      if (isAnswered) roundTrips += 1
      isAnswered = false
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      isAnswered = true
      if (latency === 0) client.write(data)
      else void pause(latency).then(() => client.write(data))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0)

  return {
    url: url.href,
    async count(work) {
      const before = roundTrips
      await work()
      return roundTrips - before
    },
    end() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function ignore(): void {}
