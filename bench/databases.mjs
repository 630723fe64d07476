// The databases that benchmarks run on: SQLite in a temporary file; PostgreSQL and MariaDB where FORGELET_TEST_POSTGRES_URL and
// FORGELET_TEST_MARIADB_URL name a server, in a database of their own, which is dropped at the end.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { mysqlStorage } from 'forgelet/storage/mysql'
import { postgresStorage } from 'forgelet/storage/postgres'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { sqliteStatements } from './harness.mjs'
import { statementCounter } from './statement-counter.mjs'

const NAME = `forgelet_bench_${process.pid}`

/**
 * Runs work on every database, one after the other, and returns what it returns.
 *
 * @param counting - whether statements are counted, which makes calls slower
 */
export async function onEachDatabase(work, { counting = false } = {}) {
  const results = []
  for (const open of [openSqlite, openPostgres, openMariadb]) {
    const database = await open(counting)
    if (database === undefined) continue
    try {
      results.push(await work(database))
    } finally {
      await database.end()
    }
  }
  return results
}

/**
 * A database: `storage(options)` opens a storage on it, `run(sql)` runs a statement of the host, and `count(work)` returns how
 * many statements the storages run meanwhile. `series(n)` is a table of the numbers from 1 to n,
 * and `analyze(table)` a statement that counts its rows for the planner.
 */
async function openSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bench-'))
  const file = join(folder, 'bench.sqlite')
  const handle = new Database(file)
  return {
    name: 'SQLite',
    quote: '"',
    numbersEvents: true,
    storage: (options) => sqliteStorage(file, options),
    run: async (sql) => handle.exec(sql),
    series: (n) =>
      `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${n}) select n from s) as s`,
    analyze: (table) => `analyze ${table}`,
    count: async (work) => (await sqliteStatements(work)).length,
    async end() {
      handle.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function openPostgres(counting) {
  const url = urlIn('FORGELET_TEST_POSTGRES_URL')
  if (url === undefined) return undefined

  const connectionTo = async (address) => {
    const client = new pg.Client({ connectionString: address })
    await client.connect()
    return client
  }
  const admin = await connectionTo(url)
  await admin.query(`create database ${NAME}`)
  const own = Object.assign(new URL(url), { pathname: `/${NAME}` }).href
  const host = await connectionTo(own)
  const counter = counting ? await statementCounter(own, 'postgres') : undefined
  return {
    name: 'PostgreSQL',
    quote: '"',
    storage: (options) => postgresStorage(counter?.url ?? own, options),
    run: (sql) => host.query(sql),
    analyze: (table) => `vacuum analyze ${table}`,
    series: (n) => `generate_series(1, ${n}) as s(n)`,
    count: (work) => counter?.count(work),
    async end() {
      counter?.end()
      await host.end()
      await admin.query(`drop database ${NAME} with (force)`)
      await admin.end()
    },
  }
}

async function openMariadb(counting) {
  const url = urlIn('FORGELET_TEST_MARIADB_URL')
  if (url === undefined) return undefined

  const host = await createConnection({ uri: url, charset: 'utf8mb4' })
  await host.query(`create database ${NAME}`)
  await host.query(`use ${NAME}`)
  const own = Object.assign(new URL(url), { pathname: `/${NAME}` }).href
  const counter = counting ? await statementCounter(own, 'mariadb') : undefined
  return {
    name: 'MariaDB',
    quote: '`',
    storage: (options) => mysqlStorage(counter?.url ?? own, options),
    run: (sql) => host.query(sql),
    analyze: (table) => `analyze table ${table}`,
    series: (n) => `(select seq as n from seq_1_to_${n}) as s`,
    count: (work) => counter?.count(work),
    async end() {
      counter?.end()
      await host.query(`drop database ${NAME}`)
      await host.end()
    },
  }
}

function urlIn(variable) {
  const url = process.env[variable]
  if (url) return url
  if (process.env.FORGELET_REQUIRE_DB === '1') throw new Error(`${variable} names no server`)
  return undefined
}
