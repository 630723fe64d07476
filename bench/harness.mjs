// Measures work against a floor in one run: sides take turns in short slices, forwards and backwards, so that whatever else the
// machine does reaches all of them. A figure is the ratio of two sides, never a time of one.
//
//   const measured = await interleave({ forgelet: callSide(work), 'by hand': callSide(floor) }, { slices })
//   const row = compare(measured, { work: 'find a block', floor: 'its statement', of: ['forgelet', 'by hand'], reach: '>= 0.65' })
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
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
export function openedSide(open, work, close) {
  const slice = async () => {
    const opened = await open()
    try {
      return await timed(() => work(opened))
    } finally {
      await close(opened)
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

/**
 * A side in a process of its own: what its server pays for a request. Every response must have the status.
 *
 * @param request - returns the bytes of the nth request
 * @param count - requests in a slice
 * @param kept - whether connections stay open from slice to slice, or each slice opens new ones
 */
export function serverSide(
  server,
  request,
  { status, count = 1000, warmUp = 10 * count, connections = 32, kept = true },
) {
  let [n, open] = [0, []]
  const closeAll = () => {
    for (const connection of open.splice(0)) connection.close()
  }
  const openAll = async () => {
    if (!kept) closeAll()
    open = open.filter((connection) => connection.isOpen)
    while (open.length < connections) open.push(await Connection.open(server.port))
  }
  const run = async (operations) => {
    const until = n + operations
    const next = () => (n < until ? request(n++) : undefined)
    await Promise.all(open.map((connection) => connection.exchange(next, `HTTP/1.1 ${status}`)))
  }
  return {
    async warmUp() {
      await openAll()
      await run(warmUp)
    },
    async slice() {
      await openAll()
      const [before, start] = [await server.report(), performance.now()]
      await run(count)
      const wall = performance.now() - start
      const { cpu } = await server.report()
      const spent = cpu.user + cpu.system - before.cpu.user - before.cpu.system
      return { cpu: spent / count, wall: (wall * 1000) / count }
    },
    end: closeAll,
  }
}

/** Starts the variant of a script that calls `runServer`, in a process of its own. */
export async function startServer(script, variant, options = [], execArgv = []) {
  const child = fork(script, [variant, ...options], { execArgv })
  const [{ port }] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`${script} ${variant} did not start`)
    }),
  ])
  return {
    port,
    async report() {
      child.send('report')
      const [report] = await once(child, 'message')
      return report
    },
    stop: () => child.kill(),
  }
}

/**
 * In the script of a server: starts the variant that `startServer` names. A variant returns its `http.Server`, or
 * `{ server, report }` if `server.report()` shall return the result of a function beside the CPU time.
 */
export async function runServer(variants) {
  const [variant, ...options] = process.argv.slice(2)
  const started = await variants[variant](...options)
  const { server, report = () => ({}) } = 'server' in started ? started : { server: started }
  const warnings = []
  process.on('warning', (warning) => warnings.push(String(warning)))
  server.keepAliveTimeout = 0 // a connection waits while the other sides have their turns
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  process.send({ port: server.address().port })
  process.on('message', () => {
    process.send({ cpu: process.cpuUsage(), heap: process.memoryUsage().heapUsed, warnings, ...report() })
  })
  process.on('disconnect', () => process.exit())
}

/** Sends one request and returns the response, to check it before anything is timed. */
export async function ask(server, request) {
  const connection = await Connection.open(server.port)
  const response = await connection.ask(request)
  connection.close()
  return response
}

/** A request without a body. */
export function requestText(method, path, authorization) {
  const credential = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: git.example.com\r\n${credential}\r\n`
}

/** Headers that Node adds to every response. */
const OF_THE_CONNECTION = new Set(['date', 'connection', 'keep-alive'])

function toHeader(line) {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)]
}

/** One connection to a server, one request after the other. */
class Connection {
  #socket
  #received
  #answered

  static async open(port) {
    const connection = new Connection()
    connection.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    connection.#socket.on('data', (bytes) => connection.#receive(bytes))
    await once(connection.#socket, 'connect')
    return connection
  }

  get isOpen() {
    return this.#socket.readyState === 'open'
  }

  close() {
    this.#socket.removeAllListeners('close').destroy()
  }

  /** Sends a request and returns the response. */
  async ask(request) {
    let sent = false
    let bytes
    await this.exchange(
      () => (sent ? undefined : request),
      undefined,
      (response) => {
        sent = true
        bytes = response
      },
    )
    const head = bytes.latin1Slice(0, bytes.indexOf('\r\n\r\n'))
    const [first, ...lines] = head.split('\r\n')
    const headers = lines.map(toHeader).filter(([name]) => !OF_THE_CONNECTION.has(name))
    return {
      status: Number(first.slice(9, 12)),
      headers: Object.fromEntries(headers),
      body: bytes.utf8Slice(head.length + 4),
    }
  }

  /** Sends requests until there is no next one. Each is sent when the one before is answered. */
  exchange(next, status, see = () => undefined) {
    return new Promise((resolve, reject) => {
      const proceed = () => {
        const request = next()
        if (request === undefined) resolve()
        else this.#socket.write(request)
      }
      this.#socket.removeAllListeners('error').on('error', reject)
      this.#socket.removeAllListeners('close').on('close', () => reject(new Error('the server closed the connection')))
      this.#answered = (response) => {
        if (status !== undefined && response.latin1Slice(0, status.length) !== status) {
          reject(new Error(`expected ${status}, received ${response.latin1Slice(0, 400)}`))
          return
        }
        see(response)
        proceed()
      }
      proceed()
    })
  }

  #receive(bytes) {
    this.#received = this.#received === undefined ? bytes : Buffer.concat([this.#received, bytes])
    if (this.#received.length < lengthOf(this.#received)) return
    const response = this.#received
    this.#received = undefined
    this.#answered(response)
  }
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
