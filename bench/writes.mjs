// What does a durable change cost over HTTP? 64 clients block users at once, over connections that they keep and over a new one for
// each request. The floor writes the same rows by hand, one transaction a request, and does not sync its commits; forgelet syncs
// each, and commits together what arrives together. What counts is requests per second.
import { deepStrictEqual, strictEqual } from 'node:assert'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { ask, compare, inFolder, interleave, requestText, serverSide, startServer } from './harness.mjs'

const SCRIPT = join(import.meta.dirname, 'http-server.mjs')
const CONNECTIONS = 64
const FLOOR = 'the same rows by hand, one transaction a request, NORMAL'

/** Measures changes over kept connections and over new ones. */
export function measure({ slices }) {
  return inFolder(async (folder) => {
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
      const options = { status: 204, connections: CONNECTIONS }
      sides[`${variant}, kept`] = serverSide(server, next, { ...options, count: 2000, warmUp: 4000 })
      sides[`${variant}, new`] = serverSide(server, next, { ...options, count: 600, warmUp: 1200, keep: false })
    }
    strictEqual(first[0].response.status, 204)
    deepStrictEqual(first[0], first[1], 'both answer the same, and write the same rows')
    const measured = await interleave(sides, { slices })

    for (const server of servers) server.stop()
    return [
      ['kept', '>= 1.5'],
      ['new', '>= 1'],
    ].map(([how, reach]) => {
      const work = `PUT block, ${CONNECTIONS} ${how} connections, FULL, requests/s`
      return compare(measured, {
        work,
        floor: FLOOR,
        of: [`node, ${how}`, `writes by hand, ${how}`],
        reach,
        by: 'wall',
      })
    })
  })
}

function blocking(user) {
  return requestText('PUT', `/api/v1/orgs/acme/blocks/${user}?note=spam`, 'token olga')
}

/** Checks the refusals, and returns what the first block was answered and the rows that it wrote. */
async function firstBlock(server, file) {
  const request = blocking('user-999999')
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
