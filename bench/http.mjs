// Requests to a forge on SQLite, and to servers that answer the same by hand. What counts is the CPU time of the server's process.
import { deepStrictEqual, strictEqual } from 'node:assert'
import { join } from 'node:path'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import {
  ask,
  compare,
  inFolder,
  interleave,
  requestText,
  serverSide,
  sqliteStatements,
  startServer,
} from './harness.mjs'
import { BLOCKED, fill, openForge, TOKEN } from './http-server.mjs'

const SCRIPT = join(import.meta.dirname, 'http-server.mjs')
const PINNED = requestText('GET', '/api/v1/repos/acme/rocket/issues/pinned', TOKEN)
const LIST = requestText('GET', '/api/v1/orgs/acme/blocks?limit=30', TOKEN)
const KEY = requestText('GET', '/api/v1/signing-key.pub')
const checks = Array.from({ length: BLOCKED }, (_, id) =>
  requestText('GET', `/api/v1/orgs/acme/blocks/user-${id}`, TOKEN),
)
const check = (n) => checks[(n * 37) % BLOCKED]

/** How often the servers are started again. What V8 makes of a program differs from process to process, by a tenth. */
const ROUNDS = 6
/** Requests to each server before it is measured. V8 goes on improving a program for longer than 10,000. */
const WARM_UP = 30_000

/** Measures the block check, the pinned list, a page of a list and the signing key. */
export async function measure({ slices }) {
  const rounds = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureOnce(Math.ceil(slices / ROUNDS)))
  const sides = Object.keys(rounds[0])
  return rows(Object.fromEntries(sides.map((side) => [side, rounds.flatMap((measured) => measured[side])])))
}

/** Starts every server on a filled database, and lets them take turns. */
function measureOnce(slices) {
  return inFolder(async (folder) => {
    const file = join(folder, 'bench.sqlite')
    const statements = JSON.stringify(await prepare(file))
    const servers = {}
    for (const name of ['node', 'express', 'fastify', 'hono'].flatMap((one) => [one, `${one} by hand`])) {
      servers[name] = await startServer(SCRIPT, name, [file, statements])
    }
    await checkAnswers(servers)

    const sides = Object.entries(servers).map(([name, server]) => [
      name,
      serverSide(server, check, { status: 204, warmUp: WARM_UP }),
    ])
    for (const [work, request] of Object.entries({ pinned: PINNED, list: LIST, key: KEY })) {
      const options = { status: 200, warmUp: WARM_UP }
      sides.push([work, serverSide(servers.node, () => request, options)])
      sides.push([`${work} by hand`, serverSide(servers['node by hand'], () => request, options)])
    }
    const measured = await interleave(Object.fromEntries(sides), { slices })
    for (const server of Object.values(servers)) server.stop()
    return measured
  })
}

function rows(measured) {
  const work = 'GET block check, SQLite'
  return [
    { work, floor: 'bare node:http, path by hand, the same statement', of: ['node', 'node by hand'], reach: '>= 0.80' },
    { work, floor: 'Fastify by hand', of: ['node', 'fastify by hand'], reach: '>= 0.90' },
    { work, floor: 'Express by hand', of: ['node', 'express by hand'], reach: '>= 4' },
    {
      work: `${work}, mounted in Express`,
      floor: 'Express by hand',
      of: ['express', 'express by hand'],
      reach: '>= 0.95',
    },
    { work: `${work}, mounted in Hono`, floor: 'Hono by hand', of: ['hono', 'hono by hand'], reach: '>= 0.85' },
    { work: `${work}, mounted in Fastify`, floor: 'Fastify by hand', of: ['fastify', 'fastify by hand'] },
    {
      work: 'GET pinned list of 3, SQLite',
      floor: 'bare node:http, the same statement, JSON.stringify',
      of: ['pinned', 'pinned by hand'],
      reach: '>= 0.85',
    },
    {
      work: 'GET list page of 30, SQLite',
      floor: 'bare node:http, page and total by hand, JSON.stringify',
      of: ['list', 'list by hand'],
      reach: '>= 0.80',
    },
    { work: 'GET signing key', floor: 'bare node:http, the same bytes', of: ['key', 'key by hand'], reach: '>= 0.90' },
  ].map((row) => compare(measured, row))
}

/** Fills the file and returns the statements of a block check and of a pinned list. */
async function prepare(file) {
  const storage = sqliteStorage(file)
  await storage.migrate()
  const forge = openForge(storage)
  await fill(forge)
  const block = await sqliteStatements(() => forge.blocks.find('system', { organizationId: 1000, userId: 7 }))
  const board = await sqliteStatements(() => forge.pins.list('system', { repositoryId: 10, kind: 'issue' }))
  await storage.close()
  deepStrictEqual([block.length, board.length], [1, 1], 'each is one statement')
  return [...block, ...board]
}

/** Responses must be equal, with their headers. Of refusals only the status is: by hand, they have no body. */
async function checkAnswers(servers) {
  const { node, 'node by hand': byHand } = servers
  const refusals = [
    [404, check(7).replace('user-', 'no-user-')],
    [401, check(7).replace(TOKEN, 'token eve')],
    [401, LIST.replace(TOKEN, 'token eve')],
    [404, PINNED.replace(TOKEN, 'token eve')], // concealed
  ]
  for (const [status, request] of refusals) {
    for (const server of [node, byHand]) strictEqual((await ask(server, request)).status, status)
  }
  for (const request of [check(7), PINNED, LIST, KEY])
    deepStrictEqual(await ask(node, request), await ask(byHand, request))
  strictEqual(JSON.parse((await ask(node, PINNED)).body).length, 3)
  strictEqual(JSON.parse((await ask(node, LIST)).body).length, 30)
  for (const framework of ['express', 'fastify', 'hono']) {
    const [mounted, itsByHand] = [servers[framework], servers[`${framework} by hand`]]
    deepStrictEqual(await ask(mounted, check(7)), await ask(itsByHand, check(7)), framework)
  }
}
