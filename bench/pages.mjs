// Does a page cost the same wherever it is? Fills one organization with a million blocks and one database with a million
// pins on other boards, and times pages as ratios to the first page of the same run. Databases: SQLite in a temporary
// file; PostgreSQL and MariaDB where FORGELET_TEST_POSTGRES_URL and FORGELET_TEST_MARIADB_URL name them (tables with a
// prefix of their own, dropped at the end).
// Usage: npm run build && node bench/pages.mjs [blocks]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createForge } from 'forgelet'

const BLOCKS = Number(process.argv[2] ?? 1_000_000)
const LIMIT = 30
const ROUNDS = 30
const PREFIX = 'bench_pages_'
const ORGANIZATION = 7
const REPOSITORY = 9

const databases = [sqlite, postgres, mariadb]
for (const open of databases) {
  const database = await open()
  if (database === undefined) continue
  try {
    await measure(database)
  } finally {
    await database.end()
  }
}

async function measure({ name, storage, fill }) {
  const forge = createForge({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
  await storage.migrate()
  const pins = { id: 1, repositoryId: REPOSITORY, kind: 'issue' }
  await forge.pins.pin('system', pins)
  await forge.blocks.block('system', { organizationId: ORGANIZATION, account: { kind: 'user', id: BLOCKS + 1 } })
  const board = () => forge.pins.list('system', { repositoryId: REPOSITORY, kind: 'issue' })
  const page = (request) => forge.blocks.list('system', { organizationId: ORGANIZATION, limit: LIMIT, ...request })

  const pinsAlone = await median(board)
  await fill()
  const { total } = await page({ page: 1 })
  const last = Math.ceil(total / LIMIT)
  const early = (await page({ page: 2 })).cursor
  const late = (await page({ page: last - 2 })).cursor

  const first = await median(() => page({ page: 1 }))
  const ratio = async (work) => ((await median(work)) / first).toFixed(2)
  console.log(
    `${name}: ${total} blocks, total ${total === BLOCKS + 1 ? 'exact' : 'WRONG'}; first page ${first.toFixed(2)} ms = 1`,
  )
  console.log(`  last page              ${await ratio(() => page({ page: last }))}`)
  console.log(`  second page from last  ${await ratio(() => page({ page: last - 1 }))}`)
  console.log(`  page 100               ${await ratio(() => page({ page: 100 }))}`)
  console.log(`  after an early cursor  ${await ratio(() => page({ after: early }))}`)
  console.log(`  after a late cursor    ${await ratio(() => page({ after: late }))}`)
  console.log(
    `  middle page            ${await ratio(() => page({ page: Math.round(last / 2) }))}   (by number: the far end of what numbers cost)`,
  )
  console.log(
    `  pinned list, ${BLOCKS} pins elsewhere, to the same list alone  ${((await median(board)) / pinsAlone).toFixed(2)}`,
  )
}

async function median(work) {
  await work()
  const times = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[ROUNDS >> 1]
}

/** The rows of the bench, out of a series of numbers that each database writes in its own way. */
function fillings(series, q = '"') {
  const table = (name) => `${q}${PREFIX}${name}${q}`
  return [
    `insert into ${table('organization_blocks')} (organization_id, user_id, seq, note, blocked_at, blocked_by)
     select ${ORGANIZATION}, n, n + 1, '', 1700000000000 + n, null from ${series}`,
    `update ${table('heads')} set total = total + ${BLOCKS}, next_seq = next_seq + ${BLOCKS} where scope = 'organization'`,
    `insert into ${table('board_pins')} (repository_id, kind, position, issue_id, pinned_at, pinned_by)
     select 1000 + n, 'issue', 1, 1000 + n, 1700000000000, null from ${series}`,
  ]
}

async function sqlite() {
  const { default: Database } = await import('better-sqlite3')
  const { sqliteStorage } = await import('forgelet/storage/sqlite')
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bench-'))
  const handle = new Database(join(folder, 'bench.sqlite'))
  const storage = sqliteStorage(handle, { prefix: PREFIX })
  const series = `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${BLOCKS}) select n from s)`
  return {
    name: 'SQLite',
    storage,
    async fill() {
      for (const sql of fillings(series)) handle.exec(sql)
      handle.exec('analyze')
    },
    async end() {
      await storage.close()
      handle.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function postgres() {
  const url = process.env.FORGELET_TEST_POSTGRES_URL
  if (url === undefined) return undefined

  const { default: pg } = await import('pg')
  const { postgresStorage } = await import('forgelet/storage/postgres')
  const pool = new pg.Pool({ connectionString: url })
  await pool.query(`drop schema if exists ${PREFIX}schema cascade; create schema ${PREFIX}schema`)
  const storage = postgresStorage(pool, { prefix: PREFIX, schema: `${PREFIX}schema` })
  return {
    name: 'PostgreSQL',
    storage,
    async fill() {
      const client = await pool.connect()
      await client.query(`set search_path to ${PREFIX}schema`)
      for (const sql of fillings(`generate_series(1, ${BLOCKS}) as s(n)`)) await client.query(sql)
      await client.query('vacuum analyze')
      client.release(true)
    },
    async end() {
      await storage.close()
      await pool.query(`drop schema ${PREFIX}schema cascade`)
      await pool.end()
    },
  }
}

async function mariadb() {
  const url = process.env.FORGELET_TEST_MARIADB_URL
  if (url === undefined) return undefined

  const { default: mysql } = await import('mysql2/promise')
  const { mysqlStorage } = await import('forgelet/storage/mysql')
  const pool = mysql.createPool({ uri: url, charset: 'utf8mb4' })
  await pool.query(`drop database if exists ${PREFIX}database`)
  await pool.query(`create database ${PREFIX}database`)
  const own = mysql.createPool({
    uri: Object.assign(new URL(url), { pathname: `/${PREFIX}database` }).href,
    charset: 'utf8mb4',
  })
  const storage = mysqlStorage(own, { prefix: PREFIX })
  return {
    name: 'MariaDB',
    storage,
    async fill() {
      for (const sql of fillings(`(select seq as n from seq_1_to_${BLOCKS}) as s`, '`')) await own.query(sql)
      await own.query(`analyze table ${PREFIX}organization_blocks, ${PREFIX}board_pins`)
    },
    async end() {
      await storage.close()
      await own.end()
      await pool.query(`drop database ${PREFIX}database`)
      await pool.end()
    },
  }
}
