// A database for a measurement, on the server that FORGELET_TEST_POSTGRES_URL names.
import pg from 'pg'

let made = 0

/** Runs work with the URL of a new database, and drops the database. */
export async function inPostgres(work) {
  const { FORGELET_TEST_POSTGRES_URL: url } = process.env
  if (!url) throw new Error('set FORGELET_TEST_POSTGRES_URL to the URL of a server whose user may create databases')
  made += 1
  const name = `forgelet_bench_${process.pid}_${made}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${name}`)
  try {
    return await work(Object.assign(new URL(url), { pathname: `/${name}` }).href)
  } finally {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}
