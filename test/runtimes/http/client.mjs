// A client that sends a path as it is. Each request has a connection of its own: a server may end one whose body it has not read.
import assert from 'node:assert/strict'
import { request as open } from 'node:http'

/** Milliseconds that a server may take to notice something. */
const PATIENCE = 5000

/** Begins a request. Node frames no body of DELETE by itself. */
export function begin(port, { method, path, headers, body }) {
  const framed = body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) }
  const outgoing = open({ host: '127.0.0.1', port, agent: false, method, path, headers: framed })
  outgoing.end(body)
  return outgoing
}

/** Sends a request. Gives the reply, the names of its headers in lower case. */
export async function send(port, asked) {
  const incoming = await new Promise((resolve, reject) => {
    begin(port, asked).on('response', resolve).on('error', reject)
  })
  const chunks = await incoming.toArray()
  return { status: incoming.statusCode, headers: incoming.headers, text: Buffer.concat(chunks).toString() }
}

/** Waits until the ports of a world were asked, or saw that the client has gone. */
export async function reported(port, world, what) {
  const deadline = performance.now() + PATIENCE
  for (;;) {
    const { text } = await send(port, { method: 'GET', path: `${world}/reported` })
    if (JSON.parse(text)[what]) return
    assert.ok(performance.now() < deadline, `not ${what} after ${PATIENCE} ms`)
  }
}
