// Calls of the forge on PostgreSQL against the statements that they run, with pg alone: named, and in pipelines; and requests to
// `forgelet serve` against a bare node:http server that runs the same statements. CPU is that of the process that works, not of the
// database.
import { deepStrictEqual, strictEqual } from 'node:assert'
import { join } from 'node:path'
import { createForge } from 'forgelet'
import { openStandalone } from 'forgelet/standalone'
import { postgresStorage } from 'forgelet/storage/postgres'
import pg from 'pg'
import { inPostgres } from './databases.mjs'
import { callSide, compare, interleave, spy } from './harness.mjs'
import { ask, serverSide, startServer, toRequest } from './servers.mjs'

const ORGANIZATION = '7'
const OLGA = { id: '2' }
const USERS = 100
const AT_ONCE = 16
const OF = ['forgelet', 'by hand']

/** Measures a block check and a pin as calls, and a block check and a pinned list of the ready server. */
export async function measure({ slices }) {
  const calls = await inPostgres(async (db) => {
    const pool = new pg.Pool({ connectionString: db, pipeline: true })
    // Its last connections may end with the database, which would hide why a measurement failed.
    pool.on('error', () => undefined)
    pool.on('connect', (client) => client.on('error', () => undefined))
    const storage = postgresStorage(db)
    await storage.migrate()
    const forge = createForge({
      storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
    })
    const rows = [await measureFind(forge, pool, slices), await measurePin(forge, storage, pool, slices)]
    await storage.close()
    await pool.end()
    return rows
  })
  return [...calls, ...(await inPostgres((db) => measureServe(db, slices)))]
}

async function measureFind(forge, pool, slices) {
  for (let n = 0; n < USERS; n += 1) {
    await forge.blocks.block(OLGA, { organizationId: ORGANIZATION, account: { kind: 'user', id: userOf(n) } })
  }
  const find = (n) => forge.blocks.find(OLGA, { organizationId: ORGANIZATION, userId: userOf(n) })
  const [{ text }] = await statementsOf(() => find(0))
  const findByHand = async (n) => {
    const userId = userOf(n)
    const { rows } = await pool.query({ name: 'find', text, values: [ORGANIZATION, userId] })
    if (rows[0] === undefined) return undefined
    const { note, blockedAt, blockedBy } = rows[0]
    return { organizationId: ORGANIZATION, userId, note, blockedAt: new Date(blockedAt), blockedBy }
  }
  for (const n of [0, USERS]) deepStrictEqual(await findByHand(n), await find(n))
  strictEqual((await find(0)).userId, userOf(0))
  strictEqual(await find(USERS), undefined)

  const options = { count: 2000, warmUp: 30_000, atOnce: AT_ONCE }
  const sides = { forgelet: callSide(find, options), 'by hand': callSide(findByHand, options) }
  return compare(await interleave(sides, { slices }), {
    work: 'find a block, PostgreSQL, 16 at once',
    floor: 'its named statement with pg',
    of: OF,
    reach: 0.88,
  })
}

/** Half of the users are blocked. */
function userOf(n) {
  return String(1001 + (n % (2 * USERS)))
}

/** Runs work and returns every statement with parameters that pg ran in this process, in order. */
async function statementsOf(work) {
  const seen = []
  const undo = spy(pg.Client.prototype, 'query', (_, [one]) => seen.push(typeof one === 'string' ? { text: one } : one))
  await work()
  undo()
  return seen.map(({ name, text, values }) => ({ name, text, values }))
}

/** The issue whose pin is recorded, and its repository: a number that occurs nowhere else in its statements. */
const SAMPLE = 900_000_001
/** Against a transaction as one writes it by hand, whose statements are those of a pin with a `beforeCommit`. */
async function measurePin(forge, storage, pool, slices) {
  const pinWith =
    ({ pins }) =>
    (id) =>
      pins.pin(OLGA, { id, repositoryId: id, kind: 'issue' })
  const pin = pinWith(forge)
  const policy = { authorize: () => ({ allow: true }) }
  const withLocks = pinWith(createForge({ storage, policy, services: ['pins'], beforeCommit: () => undefined }))
  await withLocks(SAMPLE - 1) // the first use of a connection asks for more
  const statements = (await statementsOf(() => withLocks(SAMPLE))).filter(({ text }) => !text.includes('savepoint'))
  strictEqual(statements.length, 5)
  const pinByHand = (id) => transactionWith(pool, statements, String(id))
  await pinByHand(SAMPLE + 1)
  deepStrictEqual(await rowsOf(pool, SAMPLE + 1), await rowsOf(pool, SAMPLE))

  let issue = 0
  const options = { count: 320, warmUp: 6000, atOnce: AT_ONCE }
  const sides = {
    forgelet: callSide(() => pin(++issue), options),
    'by hand': callSide(() => pinByHand(++issue), options),
  }
  return compare(await interleave(sides, { slices }), {
    work: 'pin an issue, PostgreSQL, 16 at once',
    floor: 'a transaction by hand: its statements merged and pipelined',
    of: OF,
    reach: 0.92,
  })
}

/** Pins an issue on the board of its own repository, as forgelet does: the lock, the rows, the changes, COMMIT. */
async function transactionWith(pool, [begin, lock, load, write, commit], id) {
  const client = await pool.connect()
  const [, locked, loaded] = await Promise.all([
    client.query(begin.text),
    client.query(of(lock, id)),
    client.query(of(load, id)),
  ])
  deepStrictEqual([locked.rows[0].retired, loaded.rows.length], [0, 0])
  await client.query(of(write, id))
  await client.query(commit.text)
  client.release()
}

/** A statement of a sample for another issue. */
function of({ name, text, values }, id) {
  return {
    name,
    text,
    values: values.map((value) => (typeof value === 'string' ? value.replace(String(SAMPLE), id) : value)),
  }
}

/** What a pin has written, without its ids and times. */
function rowsOf(pool, id) {
  const queries = [
    'select scope, version, epoch, retired, total, next_seq from forgelet_heads where key = $1 order by scope',
    'select kind, position, pinned_by from forgelet_board_pins where issue_id = $1',
    'select type, version, actor_id, user_id, data from forgelet_events where issue_id = $1',
  ]
  return Promise.all(queries.map(async (text) => (await pool.query(text, [id])).rows))
}

const SCRIPT = join(import.meta.dirname, 'serve-server.mjs')
const TOKEN = 'token olga-token'
const SERVED_USERS = 1000
const PINNED = toRequest('GET', '/repos/acme/rocket/issues/pinned', TOKEN)
const CHECKS = Array.from({ length: SERVED_USERS }, (_, n) => toRequest('GET', `/orgs/acme/blocks/user-${n}`, TOKEN))
const NOT_BLOCKED = toRequest('GET', '/orgs/acme/blocks/olga', TOKEN)
const FIXTURE = {
  users: [{ username: 'olga', tokens: ['olga-token'] }, ...CHECKS.map((_, n) => ({ username: `user-${n}` }))],
  organizations: [{ name: 'acme', owners: ['olga'], blocks: CHECKS.map((_, n) => ({ user: `user-${n}` })) }],
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

async function measureServe(db, slices) {
  const recorded = await record(db)
  const serve = await startServer(SCRIPT, 'serve', [db])
  const shown = JSON.parse((await ask(serve, PINNED)).body)
  strictEqual(shown.length, 3)
  const byHand = await startServer(SCRIPT, 'by hand', [db, JSON.stringify({ ...recorded, shown })])
  strictEqual((await ask(serve, CHECKS[7])).status, 204)
  strictEqual((await ask(serve, NOT_BLOCKED)).status, 404)
  for (const request of [CHECKS[7], NOT_BLOCKED])
    strictEqual((await ask(byHand, request)).status, (await ask(serve, request)).status)
  deepStrictEqual(JSON.parse((await ask(byHand, PINNED)).body), shown)

  const check = (n) => CHECKS[(n * 37) % SERVED_USERS]
  const options = { count: 400, warmUp: 4000 }
  const sides = Object.entries({ forgelet: serve, 'by hand': byHand }).flatMap(([name, server]) => [
    [`check ${name}`, serverSide(server, check, { status: 204, ...options })],
    [`list ${name}`, serverSide(server, () => PINNED, { status: 200, ...options })],
  ])
  const measured = await interleave(Object.fromEntries(sides), { slices })
  for (const server of [serve, byHand]) server.stop()
  const floor = 'bare node:http, the same statements with pg'
  return [
    ['GET block check', 'check', 0.8],
    ['GET pinned list of 3', 'list', 0.85],
  ].map(([work, side, reach]) =>
    compare(measured, {
      work: `${work}, \`forgelet serve\` on PostgreSQL`,
      floor,
      of: OF.map((name) => `${side} ${name}`),
      reach,
    }),
  )
}

/** Fills the database, and returns the statements of a block check and of a pinned list. */
async function record(db) {
  const host = await openStandalone({ db, fixture: FIXTURE })
  const recordGet = async ({ path }) => {
    const header = (name) => (name === 'authorization' ? TOKEN : undefined)
    const request = { method: 'GET', path: path.replace('/api/v1', ''), query: '', header, body: () => undefined }
    const answer = () => host.api.dispatch(request, () => host.authenticate(TOKEN))
    await answer() // the first use of a connection asks for more
    return (await statementsOf(answer)).filter(({ values }) => values !== undefined)
  }
  const statements = { check: await recordGet(CHECKS[7]), list: await recordGet(PINNED) }
  await host.close()
  return statements
}
