// What does an adapter cost, and what would the same route cost by hand? Each variant is a server in a process of its own; in
// every round each is asked for a moment, forwards and backwards in turn. Told are requests per second and CPU per request,
// as ratios to a bare node:http server of the same round: median [lowest-highest].
// Usage: npm run build && node bench/mounting.mjs [rounds]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'

const ROUNDS = Number(process.argv[2] ?? 8)
const MOMENT = 1000
const CONNECTIONS = 32
const VARIANTS = ['bare', 'node', 'fastify', 'fastify by hand', 'hono', 'hono by hand', 'express', 'express by hand']

const servers = await Promise.all(VARIANTS.map(start))
for (const server of servers) await ask(server, MOMENT) // warm
const rounds = []
for (let round = 0; round < ROUNDS; round += 1) {
  const order = round % 2 === 0 ? servers : servers.toReversed()
  const seen = new Map()
  for (const server of order) seen.set(server.variant, await ask(server, MOMENT))
  rounds.push(seen)
}
for (const { child } of servers) child.kill()

console.log(`GET /orgs/{org}/blocks/{user} -> 204, ${CONNECTIONS} connections, ${ROUNDS} rounds; bare node:http = 1`)
console.log(`${''.padEnd(18)}${'requests/s'.padEnd(22)}CPU per request`)
for (const variant of VARIANTS) {
  const speed = spread(rounds.map((seen) => seen.get(variant).perSecond / seen.get('bare').perSecond))
  const cost = spread(rounds.map((seen) => seen.get(variant).cpu / seen.get('bare').cpu))
  console.log(`${variant.padEnd(18)}${speed.padEnd(22)}${cost}`)
}

async function start(variant) {
  const child = fork(join(import.meta.dirname, 'mounting-server.mjs'), [variant])
  const [{ port }] = await once(child, 'message')
  return { variant, child, port }
}

async function ask({ child, port }, milliseconds) {
  const before = await cpuOf(child)
  const end = performance.now() + milliseconds
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, (_, id) => askOne(port, id, end)))
  const answered = counts.reduce((sum, count) => sum + count, 0)
  const { user, system } = await cpuOf(child)
  return {
    perSecond: answered / (milliseconds / 1000),
    cpu: (user + system - before.user - before.system) / answered,
  }
}

async function cpuOf(child) {
  child.send('cpu')
  const [{ cpu }] = await once(child, 'message')
  return cpu
}

/** One connection, one request after the other. */
function askOne(port, first, end) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let count = 0
    const send = () => socket.write(requestFor((first * 37 + count) % 1000))
    socket.on('connect', send)
    socket.on('error', reject)
    socket.on('data', (bytes) => {
      const head = bytes.latin1Slice(0, 12)
      if (head !== 'HTTP/1.1 204') return reject(new Error(`answered ${bytes.latin1Slice(0, 200)}`))
      count += 1
      if (performance.now() < end) return send()
      socket.destroy()
      resolve(count)
    })
  })
}

function requestFor(user) {
  return `GET /api/v1/orgs/acme/blocks/user-${user} HTTP/1.1\r\nHost: git.example.com\r\nAuthorization: token olga\r\n\r\n`
}

function spread(ratios) {
  const sorted = ratios.toSorted((one, other) => one - other)
  const [lowest, middle, highest] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)]
  return `${middle.toFixed(2)} [${lowest.toFixed(2)}-${highest.toFixed(2)}]`
}
