// The databases that the growth is measured on: SQLite in a temporary file; PostgreSQL and MariaDB where FORGELET_TEST_POSTGRES_URL
// and FORGELET_TEST_MARIADB_URL name a server, in a database of their own, which is dropped at the end.
import Database from 'better-sqlite3'
import { mysqlStorage } from 'forgelet/storage/mysql'
import { postgresStorage } from 'forgelet/storage/postgres'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { inFolder } from './harness.mjs'

const NAME = `forgelet_bench_${process.pid}`

/**
 * Runs work on every database, one after the other, and returns what it returns. `storage(options)` opens a storage on the
 * database, and `run(sql)` runs a statement of the host. `series(n)` is a table of the numbers from 1 to n, and `analyze(table)` a
 * statement that counts its rows for the planner.
 */
export async function onEachDatabase(work) {
  const results = [await inFolder((folder) => onSqlite(`${folder}/bench.sqlite`, work))]
  const { FORGELET_TEST_POSTGRES_URL: postgres, FORGELET_TEST_MARIADB_URL: mariadb } = process.env
  if (postgres) results.push(await onPostgres(postgres, work))
  if (mariadb) results.push(await onMariadb(mariadb, work))
  return results
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
    analyze: (table) => `analyze ${table}`,
  })
  handle.close()
  return result
}

function onPostgres(server, work) {
  return inPostgres(server, async (url) => {
    const host = new pg.Client({ connectionString: url })
    await host.connect()
    const result = await work({
      name: 'PostgreSQL',
      quote: '"',
      storage: (options) => postgresStorage(url, options),
      run: (sql) => host.query(sql),
      analyze: (table) => `vacuum analyze ${table}`,
      series: (n) => `generate_series(1, ${n}) as s(n)`,
    })
    await host.end()
    return result
  })
}

/** Runs work with the URL of a new database on a PostgreSQL server, and drops the database. */
export async function inPostgres(server, work) {
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`create database ${NAME}`)
  try {
    return await work(Object.assign(new URL(server), { pathname: `/${NAME}` }).href)
  } finally {
    await admin.query(`drop database ${NAME} with (force)`)
    await admin.end()
  }
}

async function onMariadb(server, work) {
  const host = await createConnection({ uri: server, charset: 'utf8mb4' })
  await host.query(`create database ${NAME}`)
  await host.query(`use ${NAME}`)
  const url = Object.assign(new URL(server), { pathname: `/${NAME}` }).href
  try {
    return await work({
      name: 'MariaDB',
      quote: '`',
      storage: (options) => mysqlStorage(url, options),
      run: (sql) => host.query(sql),
      analyze: (table) => `analyze table ${table}`,
      series: (n) => `(select seq as n from seq_1_to_${n}) as s`,
    })
  } finally {
    await host.query(`drop database ${NAME}`)
    await host.end()
  }
}
