import type { IncomingMessage, RequestListener, ServerOptions } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'
import type { NodeMountOptions } from '../../../src/http-adapters/node.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import type { Person, World } from '../world.ts'
import { authenticate } from '../world.ts'

/** Mounts a world at `/api`, as its tests do unless they say otherwise. */
export function mounted(
  world: World,
  options: Partial<NodeMountOptions<Person, IncomingMessage>> = {},
): ReturnType<typeof nodeHandler<Person, IncomingMessage>> {
  return nodeHandler<Person, IncomingMessage>(world.api, {
    authenticate: ({ headers }) => authenticate(headers.authorization),
    basePath: '/api',
    ...options,
  })
}

/** Serves a listener until the test is finished. Gives the port. */
export async function serve(listener: RequestListener, options: ServerOptions = {}): Promise<number> {
  const server = createServer(options, listener)
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // a server that listens on a port has such an address
}

/** Opens a socket to a server. */
export function dial(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Sends texts over one socket, and gives everything that came until the server closed it: the last request must ask for that. */
export async function talk(port: number, ...texts: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = dial(port)
  for (const text of texts) socket.write(text)

  const chunks: Uint8Array[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** As `talk`, by a client of another process that reads nothing before everything is sent, as many simple clients do. */
export async function sendThenRead(port: number, text: string): Promise<string> {
  const client = new Worker(BLUNT_CLIENT, { eval: true, workerData: { port, text } })
  return new Promise((resolve, reject) => {
    client.on('message', (answer) => resolve(String(answer)))
    client.on('error', reject)
  })
}

const BLUNT_CLIENT = `
  const { connect } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  const socket = connect(workerData.port, '127.0.0.1')
  let answer = ''
  socket.pause()
  socket.on('error', (error) => parentPort.postMessage(error.code + answer))
  socket.on('end', () => parentPort.postMessage(answer))
  socket.write(workerData.text, () => socket.on('data', (chunk) => { answer += chunk }).resume())
`

/** Sends the beginning of a request and then bytes without end or mercy, until so many are sent or the server cuts it off. */
export async function flood(
  port: number,
  begin: string,
  size: number,
): Promise<{ readonly answer: string; readonly sent: number }> {
  const socket = dial(port)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk.toString()
  })
  const isOver = new Promise<void>((resolve) => {
    for (const event of ['end', 'error', 'close']) socket.on(event, () => resolve())
  })
  socket.write(begin)
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))

  const piece = new Uint8Array(1_048_576)
  let sent = 0
  let isCut = false
  void isOver.then(() => {
    isCut = true
  })
  while (!isCut && sent < size) {
    sent += piece.length
    await Promise.race([isOver, new Promise<void>((resolve) => socket.write(piece, () => resolve()))])
  }
  return { answer, sent }
}

/** A request as text. A header of the same name as one that is usual replaces it. */
export function ask(first: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const all = { Host: 'git.example.com', ...(body === '' ? {} : { 'Content-Length': String(body.length) }), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${first} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** The last request of a socket: it is answered by `new_pin_allowed`, and then the server closes. */
export const goodbye: string = ask('GET /api/repos/acme/rocket/new_pin_allowed', { Connection: 'close' })

/** A promise, and the way to fulfil it. */
export function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let fulfil: (value: T) => void = () => undefined
  const promise = new Promise<T>((resolve) => {
    fulfil = resolve
  })
  return { promise, resolve: (value) => fulfil(value) }
}

/** The status lines in what a server sent. */
export function statuses(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]))
}
