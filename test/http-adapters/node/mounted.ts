import type { IncomingMessage } from 'node:http'
import { Worker } from 'node:worker_threads'
import type { NodeMountOptions } from '../../../src/http-adapters/node.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import { ask } from '../../http.ts'
import type { Person, World } from '../../world.ts'
import { authenticate } from '../../world.ts'

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

/** As `exchange`, by a client of another process that reads nothing before everything is sent, as many simple clients do. */
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
