import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** A way to a server, which a test can spoil. */
export interface Proxy {
  readonly url: string
  end(): void
}

/** Opens a proxy in front of a server: `join` is given both ends of each connection. */
async function proxy(target: string, join: (client: Socket, toServer: () => Socket) => void): Promise<Proxy> {
  const { hostname, port, protocol } = new URL(target)
  const sockets = new Set<Socket>()
  const known = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket
      .setNoDelay(true)
      .on('error', ignore)
      .on('close', () => sockets.delete(socket))
  }
  // half-open: the end of a silent connection is not answered either
  const server = createServer({ allowHalfOpen: true }, (client) =>
    join(known(client), () => known(connect(Number(port || (protocol === 'mysql:' ? 3306 : 5432)), hostname))),
  )
  const own = await listening(server)
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(own) }).href,
    end() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A way on which connections can fall silent: what is sent is accepted, and never answered. */
export interface SilentProxy extends Proxy {
  /** From now on no connection answers, neither those that are open nor new ones. */
  silence(): void
  /** Silences all connections when this is on its way to the server; it does not get there. */
  silenceAt(text: string): void
  /** New connections reach the server again, which has ended the old ones. The old ones stay silent. */
  revive(): void
}

/** Opens a silent proxy in front of a server. */
export async function silentProxy(target: string): Promise<SilentProxy> {
  const open = new Set<{ readonly upstream: Socket; isSilent: boolean }>()
  let isSilent = false
  let trigger: string | undefined
  const silence = (): void => {
    isSilent = true
    for (const way of open) way.isSilent = true
  }
  const made = await proxy(target, (client, toServer) => {
    if (isSilent) return void client.resume()

    const upstream = toServer()
    const way = { upstream, isSilent: false }
    open.add(way)
    const end = (): void => {
      if (way.isSilent) return
      open.delete(way)
      client.destroy()
      upstream.destroy()
    }
    client.on('data', (data) => {
      if (trigger !== undefined && data.includes(trigger)) silence()
      if (!way.isSilent) upstream.write(data)
    })
    upstream.on('data', (data) => void (way.isSilent || client.write(data)))
    for (const socket of [client, upstream]) socket.on('end', end).on('close', end)
  })
  return {
    ...made,
    silence,
    silenceAt(text) {
      trigger = text
    },
    revive() {
      isSilent = false
      trigger = undefined
      for (const way of open) {
        if (!way.isSilent) continue
        way.upstream.destroy()
        open.delete(way)
      }
    },
  }
}

/**
 * Opens a way that is cut when a COMMIT is on it, before it comes to the server or after that has answered.
 *
 * @param commit - how a COMMIT looks on its way
 */
export function cutAtCommit(target: string, moment: 'before' | 'after', commit: string): Promise<Proxy> {
  return proxy(target, (client, toServer) => {
    const upstream = toServer()
    const cut = (): void => void [client, upstream].map((socket) => socket.destroy())
    const give = (data: Buffer): void => void client.write(data)
    client.on('data', (data) => {
      const commits = data.includes(commit)
      if (commits && moment === 'before') return cut()
      if (commits) upstream.off('data', give).once('data', cut)
      upstream.write(data)
    })
    upstream.on('data', give)
    for (const socket of [client, upstream]) socket.on('error', cut).on('end', cut).on('close', cut)
  })
}

/** A way that counts the round trips over it: how often a client sends something after it was answered. */
export interface CountingProxy extends Proxy {
  /** Returns how many round trips the work takes. */
  count(work: () => Promise<unknown>): Promise<number>
}

/** Opens a counting proxy in front of a server. */
export async function countingProxy(target: string): Promise<CountingProxy> {
  let roundTrips = 0
  const made = await proxy(target, (client, toServer) => {
    const upstream = toServer()
    const end = (): void => void [client, upstream].map((socket) => socket.destroy())
    let isAnswered = true
    client.on('data', (data) => {
      if (isAnswered) roundTrips += 1
      isAnswered = false
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      isAnswered = true
      client.write(data)
    })
    for (const socket of [client, upstream]) socket.on('end', end).on('close', end)
  })
  return {
    ...made,
    async count(work) {
      const before = roundTrips
      await work()
      return roundTrips - before
    },
  }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function ignore(): void {}
