// A client that sends a path as it is, and a body in as many pieces as it is given in. Each request has a connection of its
// own: a server may end one whose body it has not read.
import assert from 'node:assert/strict'
import { request as open } from 'node:http'

/** Milliseconds that a server may take to notice something. */
const PATIENCE = 5000

/** Begins a request. A body of pieces has no length. */
export function begin(port, { method, path, headers = {}, body }) {
  const pieces = body === undefined ? [] : [body].flat()
  const all = { ...headers, ...framing(body) }
  const outgoing = open({ host: '127.0.0.1', port, agent: false, method, path, headers: all })
  for (const piece of pieces) outgoing.write(piece)
  outgoing.end()
  return outgoing
}

/** Node frames no body of DELETE by itself. */
function framing(body) {
  if (body === undefined) return {}
  return Array.isArray(body) ? { 'transfer-encoding': 'chunked' } : { 'content-length': Buffer.byteLength(body) }
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
