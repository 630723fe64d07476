// Requests to a forge on SQLite, and to servers that answer the same by hand. What counts for a read is the CPU time of the server's
// process. For a change it is requests per second: 64 clients block users at once. The floor does not sync its commits; forgelet
// syncs each, and commits together what arrives together.
import { deepStrictEqual, strictEqual } from 'node:assert'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { compare, inFolder, interleave, sqliteCalls } from './harness.mjs'
import { BLOCKED, fill, openForge, TOKEN } from './http-server.mjs'
import { ask, serverSide, startServer, toRequest } from './servers.mjs'

const SCRIPT = join(import.meta.dirname, 'http-server.mjs')
const PINNED = toRequest('GET', '/repos/acme/rocket/issues/pinned', TOKEN)
const CHECKS = Array.from({ length: BLOCKED }, (_, id) => toRequest('GET', `/orgs/acme/blocks/user-${id}`, TOKEN))
const check = (n) => CHECKS[(n * 37) % BLOCKED]

/** How often the servers of the reads are started again. What V8 makes of a program differs from process to process, by a tenth. */
const ROUNDS = 6
/** Requests to each server before it is measured. V8 goes on improving a program for longer than 10,000. */
const WARM_UP = 30_000
const CONNECTIONS = 64

/** Measures the block check, the pinned list, and changes. */
export async function measure({ slices }) {
  const rounds = []
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push(await inFolder((folder) => reads(folder, slices / ROUNDS)))
  const sides = Object.keys(rounds[0])
  const read = Object.fromEntries(sides.map((side) => [side, rounds.flatMap((measured) => measured[side])]))
  const written = await inFolder((folder) => writes(folder, slices))
  return [...READS.map((row) => compare(read, row)), compare(written, WRITE)]
}

const BLOCK_CHECK = 'GET block check, SQLite'
const READS = [
  {
    work: BLOCK_CHECK,
    floor: 'bare node:http, path by hand, the same statement',
    of: ['node', 'node by hand'],
    reach: 0.8,
  },
  { work: BLOCK_CHECK, floor: 'Express by hand', of: ['node', 'express by hand'], reach: 4 },
  {
    work: `${BLOCK_CHECK}, mounted in Express`,
    floor: 'Express by hand',
    of: ['express', 'express by hand'],
    reach: 0.95,
  },
  {
    work: 'GET pinned list of 3, SQLite',
    floor: 'bare node:http, the same statement, JSON.stringify',
    of: ['pinned', 'pinned by hand'],
    reach: 0.85,
  },
]
const WRITE = {
  work: `PUT block, ${CONNECTIONS} kept connections, FULL, requests/s`,
  floor: 'the same rows by hand, one transaction a request, NORMAL',
  of: ['node', 'writes by hand'],
  reach: 2,
  by: 'wall',
}

/** Starts every server on a filled database, and lets them take turns. */
async function reads(folder, slices) {
  const file = join(folder, 'bench.sqlite')
  const statements = JSON.stringify(await prepare(file))
  const servers = {}
  for (const name of ['node', 'node by hand', 'express', 'express by hand']) {
    servers[name] = await startServer(SCRIPT, name, [file, statements])
  }
  await compareReplies(servers)

  const sides = {}
  const add = (name, server, next, status) => {
    sides[name] = serverSide(server, next, { status, warmUp: WARM_UP })
  }
  for (const [name, server] of Object.entries(servers)) add(name, server, check, 204)
  add('pinned', servers.node, () => PINNED, 200)
  add('pinned by hand', servers['node by hand'], () => PINNED, 200)
  const measured = await interleave(sides, { slices })
  for (const server of Object.values(servers)) server.stop()
  return measured
}

/** Fills the file and returns the statements of a block check and of a pinned list. */
async function prepare(file) {
  const storage = sqliteStorage(file)
  await storage.migrate()
  const forge = openForge(storage)
  await fill(forge)
  const [block, ...others] = await sqliteCalls(() => forge.blocks.find('system', { organizationId: 1000, userId: 7 }))
  const [board, ...more] = await sqliteCalls(() => forge.pins.list('system', { repositoryId: 10, kind: 'issue' }))
  await storage.close()
  strictEqual(others.length + more.length, 0, 'each is one statement')
  return [block.sql, board.sql]
}

/** Responses must be equal, with their headers. Of refusals only the status is: by hand, they have no body. */
async function compareReplies(servers) {
  const { node, 'node by hand': byHand } = servers
  const refusals = [
    [404, { ...check(7), path: '/api/v1/orgs/acme/blocks/no-user' }],
    [401, { ...check(7), headers: { authorization: 'token eve' } }],
    [404, { ...PINNED, headers: { authorization: 'token eve' } }], // concealed
  ]
  for (const [status, request] of refusals) {
    for (const server of [node, byHand]) strictEqual((await ask(server, request)).status, status)
  }
  for (const request of [check(7), PINNED]) deepStrictEqual(await ask(node, request), await ask(byHand, request))
  strictEqual(JSON.parse((await ask(node, PINNED)).body).length, 3)
  deepStrictEqual(await ask(servers.express, check(7)), await ask(servers['express by hand'], check(7)))
}

async function writes(folder, slices) {
  const [sides, servers, first] = [{}, [], []]
  for (const variant of ['node', 'writes by hand']) {
    const file = join(folder, `${variant}.sqlite`)
    const storage = sqliteStorage(file)
    await storage.migrate()
    await storage.close()
    const server = await startServer(SCRIPT, variant, [file])
    servers.push(server)
    first.push(await firstBlock(server, file))
    let n = 0
    const next = () => blocking(`user-${(++n * 7919) % 1_000_003}`) // another user each time; the ids are scattered
    sides[variant] = serverSide(server, next, { status: 204, connections: CONNECTIONS, count: 2000, warmUp: 4000 })
  }
  strictEqual(first[0].response.status, 204)
  deepStrictEqual(first[0], first[1], 'both answer the same, and write the same rows')
  const measured = await interleave(sides, { slices })
  for (const server of servers) server.stop()
  return measured
}

function blocking(user, token = TOKEN) {
  return toRequest('PUT', `/orgs/acme/blocks/${user}?note=spam`, token)
}

/** Checks the refusals, and returns what the first block was answered and the rows that it wrote. */
async function firstBlock(server, file) {
  strictEqual((await ask(server, blocking('user-999999', 'token eve'))).status, 401)
  const response = await ask(server, blocking('user-999999'))
  strictEqual((await ask(server, blocking('user-999999'))).status, 422)

  const handle = new Database(file, { readonly: true })
  const rows = ['heads', 'organization_blocks', 'events'].map((table) =>
    handle.prepare(`select * from forgelet_${table}`).all(),
  )
  handle.close()
  return { response, rows: rows.flat().map(({ at: _, blocked_at: __, ...row }) => row) }
}
