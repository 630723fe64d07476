// A small reverse proxy for several processes of `forgelet serve`: round robin over those that are ready.
//
//   PORT=3000 node proxy.mjs http://127.0.0.1:3001 http://127.0.0.1:3002
//
// A server that shuts down refuses a request with 503 and `Connection: close`: it has not begun it. The proxy sends such a
// request to another server, so that a client notices no restart. Every other answer goes to the client as it is.
import { Agent, createServer, request as open } from 'node:http'
import { pathToFileURL } from 'node:url'

/** A longer body is passed on while it arrives, and its request is sent once, because the proxy does not keep the body. */
const MAX_KEPT_BODY = 64 * 1024
const CHECK_INTERVAL_MS = 500
const CHECK_TIMEOUT_MS = 2000
/** Shorter than the five seconds for which a server keeps an idle connection. */
const MAX_IDLE_MS = 4000

/** These headers belong to one connection. Source: RFC 9110, section 7.6.1 */
const OF_CONNECTION = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export class LoadBalancer {
  #servers = []
  #next = 0

  /** The HTTP server of the proxy. It answers 503 while it has no server. */
  server = createServer((request, response) => {
    this.#handle(request, response).catch((error) => {
      if (response.headersSent) response.destroy()
      else reply(response, 502, `no answer: ${error.code ?? error.message}`)
    })
  })

  constructor() {
    const checks = setInterval(() => Promise.all(this.#servers.map(check)), CHECK_INTERVAL_MS)
    this.server.on('close', () => clearInterval(checks))
  }

  /** Adds a server that is ready, and returns a function that removes it. */
  add(url) {
    const server = { url, isReady: true, agent: new Agent({ keepAlive: true, timeout: MAX_IDLE_MS }) }
    this.#servers.push(server)
    return () => {
      this.#servers = this.#servers.filter((one) => one !== server)
    }
  }

  async #handle(request, response) {
    const { body, isWhole } = await readBody(request)
    const candidates = this.#inTurn()
    for (const [index, server] of candidates.entries()) {
      const mayRepeat = isWhole && index < candidates.length - 1
      try {
        const answer = await send(server, request, { body, isWhole, closed: response })
        if (isRefusal(answer)) takeOut(server)
        if (!isRefusal(answer) || !mayRepeat) return passOn(answer, response)
        answer.resume()
      } catch (error) {
        if (error.code === 'ECONNREFUSED') takeOut(server)
        if (!mayRepeat || !wasNotBegun(error, request)) throw error
      }
    }
    reply(response, 503, 'no server is running')
  }

  /** The servers that are ready, the next one first. The others follow, in case that one has become ready. */
  #inTurn() {
    this.#next += 1
    const first = this.#next % Math.max(this.#servers.length, 1)
    const turn = [...this.#servers.slice(first), ...this.#servers.slice(0, first)]
    return [...turn.filter((server) => server.isReady), ...turn.filter((server) => !server.isReady)]
  }
}

/** Reads the body of a request, or the beginning of a long one. */
async function readBody(request) {
  const chunks = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_KEPT_BODY) return { body: Buffer.concat(chunks), isWhole: false }
  }
  return { body: Buffer.concat(chunks), isWhole: true }
}

/** Sends a request to a server and returns the answer, whose body may still arrive. */
function send({ url, agent }, request, { body, isWhole, closed }) {
  return new Promise((resolve, reject) => {
    const headers = withoutThoseOfConnection(request.rawHeaders)
    headers.push('X-Forwarded-For', request.socket.remoteAddress ?? 'unknown')
    if (isWhole && request.headers['transfer-encoding'] !== undefined) headers.push('Content-Length', body.length)
    if (!isWhole && request.headers['content-length'] === undefined) headers.push('Transfer-Encoding', 'chunked')

    const { method, url: path } = request
    const sent = open(url, { method, path, headers, agent }, resolve)
    sent.on('error', reject)
    closed.once('close', () => sent.destroy()) // the client has gone, or has its answer
    if (isWhole) {
      sent.end(body)
    } else {
      sent.write(body)
      request.pipe(sent)
    }
  })
}

/** Sends an answer to the client. */
function passOn(answer, response) {
  response.writeHead(answer.statusCode, answer.statusMessage, withoutThoseOfConnection(answer.rawHeaders))
  answer.pipe(response)
  answer.on('error', () => response.destroy())
}

function withoutThoseOfConnection(rawHeaders) {
  const kept = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!OF_CONNECTION.has(rawHeaders[index].toLowerCase())) kept.push(rawHeaders[index], rawHeaders[index + 1])
  }
  return kept
}

/** Whether a server that shuts down has refused a request. It has not begun it. */
function isRefusal({ statusCode, headers }) {
  return statusCode === 503 && headers.connection === 'close'
}

/** Whether a request without an answer can be repeated: the server is not there, or the request only reads. */
function wasNotBegun({ code }, { method }) {
  return code === 'ECONNREFUSED' || method === 'GET' || method === 'HEAD'
}

/** Sends a server no more requests until a check finds it ready, and closes the idle connections to it. */
function takeOut(server) {
  server.isReady = false
  for (const socket of Object.values(server.agent.freeSockets).flat()) socket.destroy()
}

async function check(server) {
  try {
    const { status } = await fetch(new URL('/readyz', server.url), { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })
    if (status === 200) server.isReady = true
    else takeOut(server)
  } catch {
    takeOut(server)
  }
}

function reply(response, status, message) {
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '1' })
    .end(JSON.stringify({ message }))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const proxy = new LoadBalancer()
  for (const url of process.argv.slice(2)) proxy.add(url)
  proxy.server.listen(Number(process.env.PORT ?? 3000), () => {
    process.stdout.write(`http://localhost:${proxy.server.address().port}\n`)
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => proxy.server.close())
}
