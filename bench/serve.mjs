// Requests to `forgelet serve` on PostgreSQL, and to a bare node:http server with a pool of pg that runs the same statements. What
// counts is the CPU time of the server's process, not that of the database.
import { deepStrictEqual, strictEqual } from 'node:assert'
import { join } from 'node:path'
import { openStandalone } from 'forgelet/standalone'
import { inPostgres } from './databases.mjs'
import { ask, compare, interleave, postgresStatements, requestText, serverSide, startServer } from './harness.mjs'

const SCRIPT = join(import.meta.dirname, 'serve-server.mjs')
const USERS = 1000
const TOKEN = 'token olga-token'
const PINNED = '/repos/acme/rocket/issues/pinned'
const pinned = requestText('GET', `/api/v1${PINNED}`, TOKEN)
const checks = Array.from({ length: USERS }, (_, n) => requestText('GET', `/api/v1${checkOf(n)}`, TOKEN))

/** Measures the block check and the pinned list. Returns no rows without a server. */
export async function measure({ slices, url = process.env.FORGELET_TEST_POSTGRES_URL }) {
  if (url === undefined) return []

  return inPostgres(url, async (db) => {
    const statements = await record(db)
    const serve = await startServer(SCRIPT, 'serve', [db])
    const shown = JSON.parse((await ask(serve, pinned)).body)
    const byHand = await startServer(SCRIPT, 'by hand', [db, JSON.stringify({ ...statements, shown })])
    const measured = await interleave(await sides([serve, byHand]), { slices })
    for (const server of [serve, byHand]) server.stop()
    return rows(measured)
  })
}

async function sides([serve, byHand]) {
  for (const server of [serve, byHand]) {
    strictEqual((await ask(server, checks[7])).status, 204)
    strictEqual((await ask(server, checks[7].replace('user-7', 'olga'))).status, 404)
    strictEqual((await ask(server, checks[7].replace(TOKEN, 'token eve'))).status, 401)
  }
  const [list, listByHand] = [await ask(serve, pinned), await ask(byHand, pinned)]
  strictEqual(JSON.parse(list.body).length, 3)
  deepStrictEqual(JSON.parse(listByHand.body), JSON.parse(list.body))

  const check = (n) => checks[(n * 37) % USERS]
  const options = { count: 400, warmUp: 4000 }
  return {
    check: serverSide(serve, check, { status: 204, ...options }),
    'check by hand': serverSide(byHand, check, { status: 204, ...options }),
    pinned: serverSide(serve, () => pinned, { status: 200, ...options }),
    'pinned by hand': serverSide(byHand, () => pinned, { status: 200, ...options }),
  }
}

function rows(measured) {
  const floor = 'bare node:http, the same statements with pg'
  return [
    { work: 'GET block check, `forgelet serve` on PostgreSQL', floor, of: ['check', 'check by hand'] },
    { work: 'GET pinned list of 3, `forgelet serve` on PostgreSQL', floor, of: ['pinned', 'pinned by hand'] },
  ].map((row) => compare(measured, row))
}

function checkOf(n) {
  return `/orgs/acme/blocks/user-${n}`
}

/** Fills the database, and returns the statements of a block check and of a pinned list. */
async function record(db) {
  const host = await openStandalone({ db, fixture: FIXTURE })
  const recordGet = async (path) => {
    const header = (name) => (name === 'authorization' ? TOKEN : undefined)
    const request = { method: 'GET', path, query: '', header, body: () => undefined }
    const answer = () => host.api.dispatch(request, () => host.authenticate(TOKEN))
    await answer() // the first use of a connection asks for more
    return (await postgresStatements(answer)).filter(({ values }) => values !== undefined)
  }
  const statements = { check: await recordGet(checkOf(7)), list: await recordGet(PINNED) }
  await host.close()
  return statements
}

const FIXTURE = {
  users: [{ username: 'olga', tokens: ['olga-token'] }, ...checks.map((_, n) => ({ username: `user-${n}` }))],
  organizations: [{ name: 'acme', owners: ['olga'], blocks: checks.map((_, n) => ({ user: `user-${n}` })) }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [1, 2, 3].map((index) => ({
        index,
        title: `Issue ${index}`,
        body: 'It does not fly. '.repeat(20),
        poster: 'olga',
      })),
      pins: [1, 2, 3],
    },
  ],
}
