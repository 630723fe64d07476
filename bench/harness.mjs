// Measures work against a floor in one run: sides take turns in short slices, forwards and backwards, so that whatever else the
// machine does reaches all of them. A figure is the ratio of two sides, never a time of one.
//
//   const measured = await interleave({ forgelet: callSide(work), 'by hand': callSide(floor) }, { slices })
//   const row = compare(measured, { work: 'find a block', floor: 'its statement', of: ['forgelet', 'by hand'], reach: '>= 0.65' })
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

/**
 * Lets the sides take turns, and returns for each side what one operation cost in each slice: CPU and wall time in
 * microseconds.
 */
export async function interleave(sides, { slices }) {
  const all = Object.entries(sides)
  for (const [, side] of all) await side.warmUp()
  const measured = Object.fromEntries(all.map(([name]) => [name, []]))
  for (let slice = 0; slice < slices; slice += 1) {
    for (const [name, side] of slice % 2 === 0 ? all : all.toReversed()) measured[name].push(await side.slice())
  }
  for (const [, side] of all) await side.end?.()
  return measured
}

/**
 * A row of the table. `cpu` and `wall` compare the calm fifth of each side, and `ratio` is the one that counts; `low` and `high`
 * are the 10th and the 90th percentile of its ratios slice by slice.
 *
 * @param of - the two sides: ours, then its floor
 * @param reach - what the ratio should be: `>= 0.8` or `<= 3`; without it the row is for information
 * @param by - what counts: `cpu` of the process that works, or `wall`, the time
 * @param as - `speed`: floor / ours, more is better; `cost`: ours / floor, less is better
 */
export function compare(measured, { work, floor, of: [ours, reference], reach, by = 'cpu', as = 'speed' }) {
  const [above, below] = as === 'speed' ? [reference, ours] : [ours, reference]
  const calm = (kind) => calmFifth(measured[above], kind) / calmFifth(measured[below], kind)
  const ratios = measured[above].map((cost, slice) => cost[by] / measured[below][slice][by]).sort(ascending)
  const [low, high] = [ratios[Math.floor(ratios.length * 0.1)], ratios[Math.ceil(ratios.length * 0.9) - 1]]
  return { work, floor, ratio: calm(by), low, high, reach, by, as, cpu: calm('cpu'), wall: calm('wall') }
}

/** Returns the mean of the cheapest fifth: what an operation costs while the machine does little else. */
export function calmFifth(costs, by) {
  const sorted = costs.map((cost) => cost[by]).sort(ascending)
  const calm = sorted.slice(0, Math.max(1, Math.floor(sorted.length / 5)))
  return calm.reduce((sum, cost) => sum + cost, 0) / calm.length
}

function ascending(one, other) {
  return one - other
}

/**
 * A side in this process: `call(n)` is one operation, synchronous or not, for n = 0, 1, 2, …
 *
 * @param count - operations in a slice
 * @param atOnce - how many operations are under way at the same time
 */
export function callSide(call, { count = 500, warmUp = 10 * count, atOnce = 1 } = {}) {
  let n = 0
  const one = async (until) => {
    while (n < until) {
      const result = call(n++)
      if (typeof result?.then === 'function') await result
    }
  }
  const run = async (operations) => {
    const until = n + operations
    if (atOnce === 1) await one(until)
    else await Promise.all(Array.from({ length: atOnce }, () => one(until)))
  }
  return {
    warmUp: () => run(warmUp),
    async slice() {
      const { cpu, wall } = await timed(() => run(count))
      return { cpu: cpu / count, wall: wall / count }
    },
  }
}

/**
 * A side in this process whose every operation needs something new, which is opened before and closed after it, untimed. A slice
 * is one operation.
 */
export function openedSide(open, work) {
  const slice = async () => {
    const opened = await open()
    try {
      return await timed(() => work(opened))
    } finally {
      await opened.close()
    }
  }
  return { warmUp: slice, slice }
}

/** Runs work, and returns what it cost in this process. */
export async function timed(work) {
  collectGarbage({ type: 'minor' }) // that of the side before
  const [before, start] = [process.cpuUsage(), performance.now()]
  await work()
  const wall = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  return { cpu: user + system, wall: wall * 1000 }
}

/** Runs work with a folder of its own, which is removed at the end. */
export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Starts a script in a process of its own, and waits for its first message. */
export async function startProcess(script, options) {
  const child = fork(script, options)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${script} ${options[0]} ended before it sent a message`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  return { child, message }
}

/** Starts the variant of a script that calls `runServer`, in a process of its own. */
export async function startServer(script, variant, options) {
  const { child, message } = await startProcess(script, [variant, ...options])
  return {
    port: message.port,
    /** The CPU time of the process in microseconds. */
    async cpu() {
      child.send('report')
      const [{ user, system }] = await once(child, 'message')
      return user + system
    },
    stop: () => child.kill(),
  }
}

/** In the script of a server: starts the variant that `startServer` names, which returns its `http.Server`. */
export async function runServer(variants) {
  const [variant, ...options] = process.argv.slice(2)
  const server = await variants[variant](...options)
  server.keepAliveTimeout = 0 // a connection waits while the other sides have their turns
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  process.on('message', () => process.send(process.cpuUsage()))
  process.on('disconnect', () => process.exit())
  process.send({ port: server.address().port })
}

/**
 * A side in a process of its own: what its server pays for a request. Every response must have the status.
 *
 * @param request - returns the nth request
 * @param count - requests in a slice
 * @param keep - whether connections stay open, or each request has a new one
 */
export function serverSide(
  server,
  request,
  { status, count = 1000, warmUp = 10 * count, connections = 32, keep = true },
) {
  let n = 0
  const clients = Array.from({ length: connections }, () => new Client(server.port))
  const run = async (operations) => {
    const until = n + operations
    const send = async (client) => {
      while (n < until) {
        const response = await client.send(request(n++), keep)
        if (statusOf(response) !== status)
          throw new Error(`expected ${status}, received ${response.latin1Slice(0, 400)}`)
      }
    }
    await Promise.all(clients.map(send))
  }
  return {
    warmUp: () => run(warmUp),
    async slice() {
      const [before, start] = [await server.cpu(), performance.now()]
      await run(count)
      const wall = performance.now() - start
      return { cpu: ((await server.cpu()) - before) / count, wall: (wall * 1000) / count }
    },
    end: () => clients.map((client) => client.close()),
  }
}

/** Sends one request and returns the response, to check it before anything is timed. */
export async function ask(server, request) {
  const bytes = await new Client(server.port).send(request, false)
  const head = bytes.latin1Slice(0, bytes.indexOf('\r\n\r\n'))
  const lines = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
  const headers = lines.filter((line) => !/^(date|connection|keep-alive):/.test(line)) // Node adds these
  return { status: statusOf(bytes), headers: headers.sort(), body: bytes.utf8Slice(head.length + 4) }
}

/** A request without a body. */
export function requestText(method, path, authorization) {
  const credential = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: git.example.com\r\n${credential}\r\n`
}

function statusOf(response) {
  return Number(response.latin1Slice(9, 12))
}

/** A client that sends one request after the other. */
class Client {
  #port
  #socket

  constructor(port) {
    this.#port = port
  }

  /** Sends a request and returns the response; the connection is closed after it unless it is kept. */
  async send(request, keep) {
    if (this.#socket?.readyState !== 'open') {
      this.#socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
      await once(this.#socket, 'connect')
    }
    const socket = this.#socket
    const answered = new Promise((resolve, reject) => {
      let response = Buffer.alloc(0)
      const receive = (bytes) => {
        response = response.length === 0 ? bytes : Buffer.concat([response, bytes])
        if (response.length < lengthOf(response)) return
        socket.off('data', receive).off('close', lost)
        resolve(response)
      }
      const lost = () => reject(new Error('the server closed the connection'))
      socket.on('data', receive).on('close', lost)
    })
    socket.write(keep ? request : request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const response = await answered
    if (!keep) this.close()
    return response
  }

  close() {
    this.#socket?.destroy()
    this.#socket = undefined
  }
}

/** Runs work and returns every statement with parameters that pg ran in this process, in order. */
export async function postgresStatements(work) {
  const { default: pg } = await import('pg')
  const seen = []
  const undo = spy(pg.Client.prototype, 'query', (_, [one]) => seen.push(typeof one === 'string' ? { text: one } : one))
  await work()
  undo()
  return seen.map(({ name, text, values }) => ({ name, text, values }))
}

/** Runs work and returns the text of every statement that better-sqlite3 ran in this process, in order. */
export async function sqliteStatements(work) {
  return (await sqliteCalls(work)).map(({ sql }) => sql)
}

/** Runs work and returns every statement that better-sqlite3 ran in this process, in order: its text, parameters and method. */
export async function sqliteCalls(work) {
  const { default: Database } = await import('better-sqlite3')
  const handle = new Database(':memory:')
  const seen = []
  const restore = [
    spy(Database.prototype, 'exec', (_, [sql]) => seen.push({ sql, method: 'exec', parameters: [] })),
    ...['all', 'get', 'run', 'iterate'].map((method) =>
      spy(Object.getPrototypeOf(handle.prepare('select 1')), method, ({ source }, parameters) =>
        seen.push({ sql: source, method, parameters }),
      ),
    ),
  ]
  handle.close()
  try {
    await work()
    return seen
  } finally {
    for (const undo of restore) undo()
  }
}

function spy(owner, name, see) {
  const original = owner[name]
  owner[name] = function (...parameters) {
    see(this, parameters)
    return original.apply(this, parameters)
  }
  return () => {
    owner[name] = original
  }
}

const LENGTH = /\r\ncontent-length: (\d+)/i

/** The length of a response, from its head; Infinity while the head is incomplete. */
function lengthOf(bytes) {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return Number.POSITIVE_INFINITY
  const head = bytes.latin1Slice(0, end)
  if (/\r\ntransfer-encoding/i.test(head)) throw new Error(`the client of the benchmarks reads no chunks: ${head}`)
  return end + 4 + Number(LENGTH.exec(head)?.[1] ?? 0)
}
