import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** Puts a proxy before a server until the test is finished, and returns the URL with its address. */
export async function proxied(url: string, rewrite: (fromServer: string) => string): Promise<string> {
  const target = new URL(url)
  return listening(target, (client) => {
    const server = connect(Number(target.port), target.hostname)
    client.pipe(server)
    server.on('data', (bytes) => client.write(rewrite(bytes.toString('latin1')), 'latin1'))
    server.on('end', () => client.end())
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
}

/** Puts a server in the place of another that answers the first message with these bytes, and returns its URL. */
export async function answering(url: string, bytes: Buffer): Promise<string> {
  return listening(new URL(url), (client) => {
    client.once('data', () => client.end(bytes))
    client.on('error', () => undefined)
  })
}

async function listening(target: URL, accept: (client: Socket) => void): Promise<string> {
  const server = createServer(accept)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return url.href
}
