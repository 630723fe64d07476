import { connect, createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * The URL of a way to the server that is cut when a COMMIT is on it, before it comes to the server or after that has
 * answered. It goes when the test ends.
 *
 * @param commit - how a COMMIT looks on its way
 */
export async function cutAtCommit(url: string, moment: 'before' | 'after', commit = 'commit\0'): Promise<string> {
  const { hostname, port } = new URL(url)
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname)
    const cut = (): void => void [client, upstream].map((socket) => socket.destroy())
    const give = (data: Buffer): void => void client.write(data)
    client.on('data', (data) => {
      const commits = data.includes(commit)
      if (commits && moment === 'before') return cut()
      if (commits) upstream.off('data', give).once('data', cut)
      upstream.write(data)
    })
    upstream.on('data', give)
    for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut)
  })
  onTestFinished(() => void server.close())
  const own = new URL(url)
  own.hostname = '127.0.0.1'
  own.port = String(await listening(server))
  return own.href
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
