// What does a durable change cost over HTTP? 64 clients block users at once, over connections that they keep and over a new one for
// each request. The floor writes the same rows by hand, one transaction a request, and does not sync its commits; forgelet syncs
// each, and commits together what arrives together. What counts is requests per second; the CPU time is printed beside it.
// Usage: npm run build && node bench/writes.mjs [slices]
import { deepStrictEqual, strictEqual } from 'node:assert'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { ask, compare, interleave, requestText, startServer } from './harness.mjs'

const SCRIPT = join(import.meta.dirname, 'writes-server.mjs')
const CONNECTIONS = 64
const FLOOR = 'the same rows by hand, one transaction a request, NORMAL'

/** Measures changes over kept connections and over new ones. */
export async function measure({ slices }) {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bench-'))
  const servers = []
  try {
    const sides = {}
    const first = []
    for (const variant of ['forgelet', 'by hand']) {
      const file = join(folder, `${variant}.sqlite`)
      await migrate(file)
      const server = await startServer(SCRIPT, variant, [file])
      servers.push(server)
      first.push(await firstBlock(server, file))
      const next = requests()
      sides[`${variant}, kept`] = blocking(server, next, { keep: true, count: 2000 })
      sides[`${variant}, new`] = blocking(server, next, { keep: false, count: 600 })
    }
    strictEqual(first[0].response.status, 204)
    deepStrictEqual(first[0], first[1], 'both answer the same, and write the same rows')
    const measured = await interleave(sides, { slices })

    for (const [name, { groups }] of Object.entries(sides)) console.log(`${name}: ${spread(groups)}`)
    return [
      row(measured, {
        work: `PUT block, ${CONNECTIONS} kept connections, FULL, requests/s`,
        how: 'kept',
        reach: '>= 1.5',
      }),
      row(measured, { work: `PUT block, ${CONNECTIONS} new connections, FULL, requests/s`, how: 'new', reach: '>= 1' }),
    ]
  } finally {
    for (const server of servers) server.stop()
    rmSync(folder, { recursive: true })
  }
}

function row(measured, { work, how, reach }) {
  return compare(measured, { work, floor: FLOOR, of: [`forgelet, ${how}`, `by hand, ${how}`], reach, by: 'wall' })
}

async function migrate(file) {
  const storage = sqliteStorage(file)
  await storage.migrate()
  await storage.close()
}

/** Checks the refusals, and returns what the first block was answered and the rows that it wrote. */
async function firstBlock(server, file) {
  const request = requestText('PUT', '/api/v1/orgs/acme/blocks/user-999999?note=spam', 'token olga')
  strictEqual((await ask(server, request.replace('olga', 'eve'))).status, 401)
  strictEqual((await ask(server, request.replace('acme', 'nothing'))).status, 404)
  const response = await ask(server, request)
  strictEqual((await ask(server, request)).status, 422)

  const handle = new Database(file, { readonly: true })
  const rows = ['heads', 'organization_blocks', 'events'].map((table) =>
    handle.prepare(`select * from forgelet_${table}`).all(),
  )
  handle.close()
  return { response, rows: rows.flat().map(({ at: _, blocked_at: __, ...row }) => row) }
}

/** Every request blocks another user; the ids are scattered. */
function requests() {
  let n = 0
  return () => {
    n += 1
    return requestText('PUT', `/api/v1/orgs/acme/blocks/user-${(n * 7919) % 1_000_003}?note=spam`, 'token olga')
  }
}

/** A side of the measurement: so many requests, 64 of them under way at the same time. */
function blocking(server, next, { keep, count }) {
  const groups = new Map()
  const run = async (requestsToSend) => {
    const state = { left: requestsToSend }
    await Promise.all(Array.from({ length: CONNECTIONS }, () => client(server.port, state, next, keep)))
  }
  return {
    groups,
    warmUp: () => run(2 * count),
    async slice() {
      const before = await server.report()
      const start = performance.now()
      await run(count)
      const wall = performance.now() - start
      const { cpu, groups: sizes } = await server.report()
      for (const [size, times] of sizes) groups.set(size, (groups.get(size) ?? 0) + times)
      return {
        cpu: (cpu.user + cpu.system - before.cpu.user - before.cpu.system) / count,
        wall: (wall * 1000) / count,
      }
    },
  }
}

/** Sends one request after the other, over one connection or over one for each. */
async function client(port, state, next, keep) {
  let socket
  while (state.left > 0) {
    state.left -= 1
    if (socket === undefined) {
      socket = connect({ port, host: '127.0.0.1', noDelay: true })
      await once(socket, 'connect')
    }
    socket.write(keep ? next() : next().replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const [bytes] = await once(socket, 'data')
    const head = bytes.latin1Slice(0, 12)
    if (head !== 'HTTP/1.1 204') throw new Error(`expected 204, received ${bytes.latin1Slice(0, 400)}`)
    if (!keep) {
      socket.destroy()
      socket = undefined
    }
  }
  socket?.destroy()
}

/** Describes how many changes the transactions had. */
function spread(groups) {
  const sizes = [...groups]
    .flatMap(([size, times]) => Array.from({ length: times * size }, () => size))
    .sort((a, b) => a - b)
  const commits = [...groups.values()].reduce((sum, times) => sum + times, 0)
  const [low, middle, high] = [0.1, 0.5, 0.9].map((part) => sizes[Math.floor(part * sizes.length)])
  return `${(sizes.length / commits).toFixed(1)} changes in a transaction; of all changes, half were in groups of ${middle} or more, and 80 % in groups of ${low} to ${high}`
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const rows = await measure({ slices: Number(process.argv[2] ?? 20) })
  for (const { work, floor, ratio, low, high, reach, cpu } of rows) {
    const figures = `${ratio.toFixed(2)} [${low.toFixed(2)}-${high.toFixed(2)}]`
    console.log(`${figures} (${reach}; CPU ${cpu.toFixed(2)}) ${work} / ${floor}`)
  }
}
