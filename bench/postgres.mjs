// What does forgelet cost beside the statements that it sends to PostgreSQL? Sixteen calls are under way at once. The floor of a
// read is pg itself with the same named statement. That of a pin sends the same statements, in the same round trips: what needs no
// answer goes together, on a pool that pipelines. CPU is that of this process, not of the server.
// Usage: npm run build && FORGELET_TEST_POSTGRES_URL=postgres://… node bench/postgres.mjs [slices]
import { deepStrictEqual, strictEqual } from 'node:assert'
import { pathToFileURL } from 'node:url'
import { createForge } from 'forgelet'
import { postgresStorage } from 'forgelet/storage/postgres'
import pg from 'pg'
import { callSide, compare, interleave } from './harness.mjs'

const SCHEMA = 'bench_postgres'
const ORGANIZATION = '7'
const OLGA = { id: '2', kind: 'user' }
const USERS = 100
const AT_ONCE = 16

/** Measures a block check and a pin. Returns no rows without a server. */
export async function measure({ slices, url = process.env.FORGELET_TEST_POSTGRES_URL }) {
  if (url === undefined) return []

  const admin = new pg.Pool({ connectionString: url, pipeline: true })
  await admin.query(`drop schema if exists ${SCHEMA} cascade`)
  const storage = postgresStorage(url, { schema: SCHEMA })
  try {
    await storage.migrate()
    return [await measureFind({ storage, pool: admin, slices }), await measurePin({ storage, pool: admin, slices })]
  } finally {
    await storage.close()
    await admin.query(`drop schema ${SCHEMA} cascade`)
    await admin.end()
  }
}

async function measureFind({ storage, pool, slices }) {
  const forge = openForge(storage)
  for (let userId = 1; userId <= USERS; userId += 1) {
    await forge.blocks.block(OLGA, { organizationId: ORGANIZATION, account: { kind: 'user', id: 1000 + userId } })
  }
  const find = (n) => forge.blocks.find(OLGA, { organizationId: ORGANIZATION, userId: userOf(n) })
  const findByHand = async (n) => {
    const { rows } = await pool.query({ name: 'find', text: FIND, values: [ORGANIZATION, userOf(n)] })
    return rows[0] && blockOf(userOf(n), rows[0])
  }
  for (const n of [0, USERS]) deepStrictEqual(await findByHand(n), await find(n))
  strictEqual((await find(0)).userId, userOf(0))
  strictEqual(await find(USERS), undefined)

  const options = { count: 2000, warmUp: 30_000, atOnce: AT_ONCE }
  const measured = await interleave(
    { forgelet: callSide(find, options), 'by hand': callSide(findByHand, options) },
    { slices },
  )
  return compare(measured, {
    work: 'find a block, PostgreSQL, 16 at once',
    floor: 'its named statement with pg',
    of: ['forgelet', 'by hand'],
    reach: '>= 0.75',
  })
}

/** Half of the users are blocked. */
function userOf(n) {
  return String(1001 + (n % (2 * USERS)))
}

async function measurePin({ storage, pool, slices }) {
  const forge = openForge(storage)
  const pin = (n) => forge.pins.pin(OLGA, { id: 2 * n + 1, repositoryId: 2 * n + 1, kind: 'issue' })
  const pinByHand = (n) => pinWith(pool, String(2 * n + 2))
  await pin(0)
  await pinByHand(0)
  deepStrictEqual(await rowsOf(pool, '2'), await rowsOf(pool, '1'))

  const after = (call) => (n) => call(n + 1)
  const options = { count: 320, warmUp: 6000, atOnce: AT_ONCE }
  const measured = await interleave(
    { forgelet: callSide(after(pin), options), 'by hand': callSide(after(pinByHand), options) },
    { slices },
  )
  return compare(measured, {
    work: 'pin an issue, PostgreSQL, 16 at once',
    floor: 'its statements by hand, merged and pipelined',
    of: ['forgelet', 'by hand'],
    reach: '>= 0.8',
  })
}

function openForge(storage) {
  return createForge({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
}

const FIND = `select "note", cast("blocked_at" as double precision) as "blockedAt", cast("blocked_by" as text) as "blockedBy"
  from "${SCHEMA}"."forgelet_organization_blocks"
  where "organization_id" = cast($1 as bigint) and "user_id" = cast($2 as bigint)`

function blockOf(userId, { note, blockedAt, blockedBy }) {
  return { organizationId: ORGANIZATION, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}

const HEAD = `cast("epoch" as double precision) as "epoch", cast("retired" as double precision) as "retired",
  cast("total" as double precision) as "total", cast("next_seq" as double precision) as "next_seq"`

const FIND_HEAD = `select ${HEAD} from "${SCHEMA}"."forgelet_heads" where "scope" = $1 and "key" = $2`

const BEGIN = `begin isolation level read committed read write;
  select case when pg_catalog.current_setting('synchronous_commit') in ('off', 'local')
  then pg_catalog.set_config('synchronous_commit', 'on', true) end;
  set local lock_timeout = 4000; set local statement_timeout = 4000;
  select cast(pg_catalog.now() operator(pg_catalog.=) pg_catalog.statement_timestamp() as text) as "isNew"`

const LOCK = `insert into "${SCHEMA}"."forgelet_heads" ("scope", "key", "version", "epoch", "retired", "total", "next_seq")
  values ($1, $2, 0, 0, 0, 0, 1) on conflict ("scope", "key") do update
  set "version" = "${SCHEMA}"."forgelet_heads"."version" returning ${HEAD}`

const LOAD = `select cast("issue_id" as text) as "issueId", cast("pinned_at" as double precision) as "pinnedAt",
  cast("pinned_by" as text) as "pinnedBy" from "${SCHEMA}"."forgelet_board_pins"
  where "repository_id" = cast($1 as bigint) and "kind" = $2 order by "position"`

const TOMBSTONES = `select cast("issue_id" as text) as "issueId" from "${SCHEMA}"."forgelet_issue_tombstones" where "issue_id" in
  (select cast(value as bigint) from pg_catalog.json_array_elements_text(cast($1 as json)))`

const PIN = `insert into "${SCHEMA}"."forgelet_board_pins"
  ("repository_id", "kind", "position", "issue_id", "pinned_at", "pinned_by")
  values (cast($1 as bigint), $2, $3, cast($4 as bigint), $5, cast($6 as bigint))`

const SAVE = `update "${SCHEMA}"."forgelet_heads" set "version" = "version" + 1, "epoch" = $1, "retired" = $2, "total" = $3,
  "next_seq" = $4 where "scope" = $5 and "key" = $6`

const EVENT = `insert into "${SCHEMA}"."forgelet_events" ("type", "version", "at", "actor_id", "organization_id",
  "repository_id", "issue_id", "user_id", "data") values ($1, 1, $2, cast($3 as bigint), cast($4 as bigint),
  cast($5 as bigint), cast($6 as bigint), cast($7 as bigint), $8) returning cast("id" as text) as "id"`

/** Pins an issue on the board of its own repository, as forgelet does: the epoch, the lock, the rows, the changes, COMMIT. */
async function pinWith(pool, id) {
  const before = await pool.query({ name: 'head', text: FIND_HEAD, values: ['issueBoard', id] })
  const client = await pool.connect()
  try {
    const [, locked, loaded] = await Promise.all([
      client.query(BEGIN),
      client.query({ name: 'lock', text: LOCK, values: ['issueBoard', id] }),
      client.query({ name: 'load', text: LOAD, values: [id, 'issue'] }),
    ])
    const [head] = locked.rows
    if (head.epoch !== (before.rows[0]?.epoch ?? 0)) throw new Error('the board has changed')
    if (head.retired !== 0) throw new Error('the repository is gone')

    const [position, at] = [loaded.rows.length + 1, Date.now()]
    const data = JSON.stringify({ position })
    const [, gone, , , event] = await Promise.all([
      client.query({ name: 'lock', text: LOCK, values: ['issue', id] }),
      client.query({ name: 'tombstones', text: TOMBSTONES, values: [JSON.stringify([id])] }),
      client.query({ name: 'pin', text: PIN, values: [id, 'issue', position, id, at, OLGA.id] }),
      client.query({ name: 'save', text: SAVE, values: [head.epoch, 0, position, head.next_seq, 'issueBoard', id] }),
      client.query({ name: 'event', text: EVENT, values: ['issue.pinned', at, OLGA.id, null, id, id, null, data] }),
    ])
    if (gone.rows.length > 0) throw new Error('the issue is gone')
    await client.query('commit')
    client.release()
    return { position, event: event.rows[0].id }
  } catch (error) {
    client.release(error)
    throw error
  }
}

/** What a pin has written, without its ids and times. */
async function rowsOf(pool, id) {
  const one = async (text, values) => (await pool.query(text, values)).rows
  return {
    heads: await one(
      `select scope, version, epoch, retired, total, next_seq from ${SCHEMA}.forgelet_heads where key = $1 order by scope`,
      [id],
    ),
    pins: await one(`select kind, position, pinned_by from ${SCHEMA}.forgelet_board_pins where issue_id = $1`, [id]),
    events: await one(
      `select type, version, actor_id, user_id, data from ${SCHEMA}.forgelet_events where issue_id = $1`,
      [id],
    ),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.table(await measure({ slices: Number(process.argv[2] ?? 20) }))
}
