import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { expect, test } from 'vitest'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { onServer, SERVERS } from '../databases.ts'
import { CLOSED, firstClaim } from './closed-below.ts'

onServer(SERVERS.postgres, (url) => {
  test('a pool that the host has ended is closed for every later call', async () => {
    const pool = new pg.Pool({ connectionString: url })
    await pool.end()

    expect(await firstClaim(postgresStorage(pool))).toMatchObject(CLOSED)
  })
})

onServer(SERVERS.mariadb, (url) => {
  test('a pool that the host has ended is closed for every later call', async () => {
    const pool = createPool(url)
    await pool.end()

    expect(await firstClaim(mysqlStorage(pool))).toMatchObject(CLOSED)
  })
})
