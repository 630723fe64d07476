// The databases of the measurements: SQLite in a temporary file; PostgreSQL and MariaDB in a database of their own, which is dropped
// at the end, on the servers that FORGELET_TEST_POSTGRES_URL and FORGELET_TEST_MARIADB_URL name.
import Database from 'better-sqlite3'
import { mariadbStorage } from 'forgelet/storage/mariadb'
import { postgresStorage } from 'forgelet/storage/postgres'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { inFolder } from './harness.mjs'

let made = 0

/** Each database has a name of its own. */
function newName() {
  made += 1
  return `forgelet_bench_${process.pid}_${made}`
}

/**
 * Runs work on every database, one after the other, and returns what it returns. `storage(options)` opens a storage on the
 * database, and `run(sql)` runs a statement of the host. `series(n)` is a table of the numbers from 1 to n, and `analyze` the
 * statement that counts the rows of a table for the planner.
 */
export async function onEachDatabase(work) {
  return [
    await inFolder((folder) => onSqlite(`${folder}/bench.sqlite`, work)),
    await onPostgres(work),
    await onMariadb(work),
  ]
}

async function onSqlite(file, work) {
  const handle = new Database(file)
  const result = await work({
    name: 'SQLite',
    quote: '"',
    numbersEvents: true,
    storage: (options) => sqliteStorage(file, options),
    run: async (sql) => handle.exec(sql),
    series: (n) =>
      `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${n}) select n from s) as s`,
    analyze: 'analyze',
  })
  handle.close()
  return result
}

function onPostgres(work) {
  return inPostgres(async (url) => {
    const host = new pg.Client({ connectionString: url })
    await host.connect()
    const result = await work({
      name: 'PostgreSQL',
      quote: '"',
      storage: (options) => postgresStorage(url, options),
      run: (sql) => host.query(sql),
      series: (n) => `generate_series(1, ${n}) as s(n)`,
      analyze: 'vacuum analyze',
    })
    await host.end()
    return result
  })
}

/** Runs work with the URL of a new database on the PostgreSQL server, and drops the database. */
export async function inPostgres(work) {
  const [name, server] = [newName(), urlOf('FORGELET_TEST_POSTGRES_URL')]
  const admin = new pg.Client({ connectionString: server.href })
  await admin.connect()
  await admin.query(`create database ${name}`)
  try {
    return await work(Object.assign(server, { pathname: `/${name}` }).href)
  } finally {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}

async function onMariadb(work) {
  const [name, server] = [newName(), urlOf('FORGELET_TEST_MARIADB_URL')]
  const host = await createConnection({ uri: server.href, charset: 'utf8mb4' })
  await host.query(`create database ${name}`)
  await host.query(`use ${name}`)
  try {
    return await work({
      name: 'MariaDB',
      quote: '`',
      storage: (options) => mariadbStorage(Object.assign(server, { pathname: `/${name}` }).href, options),
      run: (sql) => host.query(sql),
      series: (n) => `(select seq as n from seq_1_to_${n}) as s`,
      analyze: 'analyze table',
    })
  } finally {
    await host.query(`drop database ${name}`)
    await host.end()
  }
}

function urlOf(variable) {
  if (process.env[variable]) return new URL(process.env[variable])
  throw new Error(`set ${variable} to the URL of a server whose user may create databases`)
}
