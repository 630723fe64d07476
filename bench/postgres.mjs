// Calls of the forge on PostgreSQL against the statements that they run, with pg alone: named, and in pipelines. CPU is that of this
// process, not of the server.
import { deepStrictEqual, strictEqual } from 'node:assert'
import { createForge } from 'forgelet'
import { postgresStorage } from 'forgelet/storage/postgres'
import pg from 'pg'
import { inPostgres } from './databases.mjs'
import { callSide, compare, interleave, postgresStatements } from './harness.mjs'

const ORGANIZATION = '7'
const OLGA = { id: '2' }
const USERS = 100
const AT_ONCE = 16
const OF = ['forgelet', 'by hand']

/** Measures a block check and a pin. Returns no rows without a server. */
export async function measure({ slices, url = process.env.FORGELET_TEST_POSTGRES_URL }) {
  if (url === undefined) return []

  return inPostgres(url, async (db) => {
    const pool = new pg.Pool({ connectionString: db, pipeline: true })
    pool.on('error', () => undefined) // its last connections may end with the database
    const storage = postgresStorage(db)
    await storage.migrate()
    const forge = createForge({
      storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
    })
    const rows = [await measureFind(forge, pool, slices), await measurePin(forge, pool, slices)]
    await storage.close()
    await pool.end()
    return rows
  })
}

async function measureFind(forge, pool, slices) {
  for (let n = 0; n < USERS; n += 1) {
    await forge.blocks.block(OLGA, { organizationId: ORGANIZATION, account: { kind: 'user', id: userOf(n) } })
  }
  const find = (n) => forge.blocks.find(OLGA, { organizationId: ORGANIZATION, userId: userOf(n) })
  const [{ text }] = await postgresStatements(() => find(0))
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
    reach: '>= 0.75',
  })
}

/** Half of the users are blocked. */
function userOf(n) {
  return String(1001 + (n % (2 * USERS)))
}

async function measurePin(forge, pool, slices) {
  const pin = (id) => forge.pins.pin(OLGA, { id, repositoryId: id, kind: 'issue' })
  await pin(SAMPLE - 1) // the first use of a connection asks for more
  const statements = await postgresStatements(() => pin(SAMPLE))
  const pinByHand = (id) => pinWith(pool, statements, String(id))
  await pinByHand(SAMPLE + 1)
  deepStrictEqual(await rowsOf(pool, SAMPLE + 1), await rowsOf(pool, SAMPLE))

  const options = { count: 320, warmUp: 6000, atOnce: AT_ONCE }
  const sides = {
    forgelet: callSide((n) => pin(2 * n + 1), options),
    'by hand': callSide((n) => pinByHand(2 * n + 2), options),
  }
  return compare(await interleave(sides, { slices }), {
    work: 'pin an issue, PostgreSQL, 16 at once',
    floor: 'its statements by hand, merged and pipelined',
    of: OF,
    reach: '>= 0.8',
  })
}

/** The issue whose pin is recorded, and its repository: a number that occurs nowhere else in its statements. */
const SAMPLE = 900_000_001

/** Pins an issue on the board of its own repository, as forgelet does: the lock, the rows, the changes, COMMIT. */
async function pinWith(pool, [begin, lock, load, lockIssue, findGone, ...changes], id) {
  const commit = changes.at(-1)
  const ofIssue = ({ name, text, values }) => ({
    name,
    text,
    values: values.map((value) => (typeof value === 'string' ? value.replace(SAMPLE, id) : value)),
  })
  const client = await pool.connect()
  const query = (statement) => client.query(ofIssue(statement))
  const [, locked, loaded] = await Promise.all([client.query(begin.text), query(lock), query(load)])
  const [head] = locked.rows
  strictEqual(head.retired, 0)
  strictEqual(loaded.rows.length, 0)
  const written = [lockIssue, findGone, ...changes.slice(0, -1)].map(query)
  const [, gone, ...rest] = await Promise.all(written)
  strictEqual(gone.rows.length, 0)
  await client.query(commit.text)
  client.release()
  return rest.at(-1).rows[0].id
}

/** What a pin has written, without its ids and times. */
async function rowsOf(pool, id) {
  const all = async (text) => (await pool.query(text, [id])).rows
  return [
    await all(
      'select scope, version, epoch, retired, total, next_seq from forgelet_heads where key = $1 order by scope',
    ),
    await all('select kind, position, pinned_by from forgelet_board_pins where issue_id = $1'),
    await all('select type, version, actor_id, user_id, data from forgelet_events where issue_id = $1'),
  ]
}
