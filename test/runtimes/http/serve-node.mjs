// Serves the worlds with node:http, through `nodeHandler` and through the `Request` and `Response` of this Node. Prints its port.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { nodeHandler } from 'forgelet/node'
import { authenticate } from '../../world.ts'
import { openNamed, segmentsOf, worldListener } from './worlds.mjs'

const listener = worldListener({ fetch: () => undefined })
const mounts = new Map()

const server = createServer((request, response) => {
  const answer = segmentsOf(request.url)[0] === 'node' ? byNodeHandler : byFetch
  answer(request, response).catch((error) => {
    process.stderr.write(`${error.stack}\n`)
    response.destroy()
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))

async function byNodeHandler(request, response) {
  const [, name, rest] = segmentsOf(request.url)
  if (!mounts.has(name)) mounts.set(name, mount(name))
  const { handler, reported } = await mounts.get(name)
  if (rest === 'reported') response.end(JSON.stringify(reported))
  else handler(request, response)
}

async function mount(name) {
  const { api, reported } = await openNamed(name)
  const handler = nodeHandler(api, {
    basePath: `/node/${name}/api`,
    authenticate: ({ headers }) => authenticate(headers.authorization),
  })
  return { handler, reported }
}

/** The least that makes a Fetch request of one of Node, and sends the response. */
async function byFetch(message, outgoing) {
  const gone = new AbortController()
  outgoing.on('close', () => outgoing.writableFinished || gone.abort())
  const hasBody = message.method !== 'GET' && message.method !== 'HEAD'
  const request = new Request(`http://127.0.0.1${message.url}`, {
    method: message.method,
    headers: message.headers,
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(message), duplex: 'half' } : {}),
  })
  const response = await listener(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) outgoing.end()
  else await pipeline(response.body, outgoing)
}
