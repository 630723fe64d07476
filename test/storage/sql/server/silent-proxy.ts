import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** A way to a server on which connections can fall silent: what is sent is accepted, and never answered. */
export interface SilentProxy {
  readonly url: string
  /** From now on no connection answers, neither those that are open nor new ones. */
  silence(): void
  /** Silences all connections when this is on its way to the server; it does not get there. */
  silenceAt(text: string): void
  /** New connections reach the server again, which has ended the old ones. The old ones stay silent. */
  revive(): void
  end(): void
}

/** Opens a silent proxy in front of a server. */
export async function silentProxy(target: string, defaultPort: number): Promise<SilentProxy> {
  const { hostname, port } = new URL(target)
  const clients = new Set<Socket>()
  const open = new Set<Way>()
  let isSilent = false
  let trigger: string | undefined
  const silence = (): void => {
    isSilent = true
    for (const way of open) way.isSilent = true
  }

  // half-open: the end of a silent connection is not answered either
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client)
    client.on('error', ignore).on('close', () => clients.delete(client))
    if (isSilent) {
      client.resume()
      return
    }

    const upstream = connect(Number(port || defaultPort), hostname)
    const way: Way = { upstream, isSilent: false }
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
    upstream.on('data', (data) => {
      if (!way.isSilent) client.write(data)
    })
    upstream.on('error', ignore)
    for (const socket of [client, upstream]) socket.on('end', end).on('close', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0)

  return {
    url: url.href,
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
    end() {
      server.close()
      for (const socket of [...clients, ...[...open].map((way) => way.upstream)]) socket.destroy()
    },
  }
}

interface Way {
  readonly upstream: Socket
  isSilent: boolean
}

function ignore(): void {}
