// What hosts of postgres.js, Kysely and the package mariadb see of the storage on their own pools.
import { Kysely, PostgresDialect } from 'kysely'
import { createPool } from 'mariadb'
import postgres from 'postgres'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin, unpin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { EmptyDatabases, MARIADB, newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import type { HostTables } from './client-kinds.ts'
import { hostPool } from './client-kinds.ts'
import { listenerWarnings } from './listener-warnings.ts'
import { AT_ONCE } from './promised-times.ts'

/** Each use of the storage that a host makes every day. */
async function useAll<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  await storage.migrate()
  await storage.migrate()
  await pin(storage, BOARD, '1')
  await pin(storage, BOARD, '1')
  await issuesOn(storage, BOARD)
  await block(storage, '5', '9')
  await expect(block(storage, '5', '9')).rejects.toMatchObject({ code: 'ALREADY_BLOCKED' })
  await unpin(storage, BOARD, '1')
}

onServer(SERVERS.postgres, () => {
  const databases = new EmptyDatabases(POSTGRES)
  afterAll(() => databases.end())

  describe('a host of postgres.js', () => {
    test('gets no notice of the server, which postgres.js would print', async () => {
      const { url } = await newDatabase(POSTGRES)
      const notices: unknown[] = []
      const sql = postgres(url, { onnotice: ({ message }) => void notices.push(message) })
      onTestFinished(() => sql.end())
      await useAll(postgresStorage(sql))

      expect(notices).toEqual([])
    })

    test.each([
      ['open', ''],
      ['open with rows of its own', 'insert into host_left_open values (1)'],
      ['failed', 'select 1 / 0'],
    ])('that leaves a transaction %s on a connection loses it, and the change is made', async (_state, text) => {
      const { url } = await databases.forTest({}, onTestFinished)
      const sql = postgres(url, { max: 1, onnotice: () => undefined })
      onTestFinished(() => sql.end())
      const storage = postgresStorage(sql)
      expect(await issuesOn(storage, BOARD)).toEqual([])
      await sql.unsafe('create table host_left_open (n integer)')
      const connection = await sql.reserve()
      await connection.unsafe('begin')
      if (text !== '') await connection.unsafe(text).catch(() => undefined)
      connection.release()
      await pin(storage, BOARD, '1')

      expect(await sql.unsafe('select * from host_left_open')).toEqual([])
      expect(await issuesOn(storage, BOARD)).toEqual(['1'])
    })

    test('can end its pool behind a call that has failed', async () => {
      const { url } = await newDatabase(POSTGRES)
      const sql = postgres(url, { onnotice: () => undefined })
      await expect(issuesOn(postgresStorage(sql), BOARD)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
      const storage = postgresStorage(sql)
      await storage.migrate()
      await issuesOn(storage, BOARD)
      await sql.unsafe('drop schema public cascade')
      await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      const start = performance.now()
      await sql.end()

      expect(performance.now() - start).toBeLessThan(AT_ONCE)
    })
  })

  test('a host of Kysely gets no notice of the server', async () => {
    const { url } = await newDatabase(POSTGRES)
    const notices: unknown[] = []
    const pool = hostPool(url)
    pool.on('connect', (client) => void client.on('notice', ({ message }) => notices.push(message)))
    const kysely = new Kysely<HostTables>({ dialect: new PostgresDialect({ pool }) })
    onTestFinished(() => kysely.destroy())
    await useAll(postgresStorage(kysely))

    expect(notices).toEqual([])
  })
})

onServer(SERVERS.mariadb, () => {
  test('fifty reads over a pool of the package mariadb leave no listeners behind', async () => {
    const { url } = await newDatabase(MARIADB)
    const pool = createPool(`${url.replace(/^mysql:/, 'mariadb:')}?connectionLimit=1`)
    onTestFinished(() => pool.end())
    const storage = mariadbStorage(pool)
    await storage.migrate()
    const warnings = listenerWarnings(onTestFinished)
    for (let count = 0; count < 50; count += 1) await issuesOn(storage, BOARD)
    const connection = await pool.getConnection()
    const listeners = connection.listeners('error').length
    await connection.release()

    expect(await warnings()).toEqual([])
    expect(listeners).toBeLessThan(5)
  })

  test('a host of the package mariadb that has ended its pool has made the storage unavailable', async () => {
    const { url } = await newDatabase(MARIADB)
    const pool = createPool(url.replace(/^mysql:/, 'mariadb:'))
    const storage = mariadbStorage(pool)
    await storage.migrate()
    await pool.end()

    for (const call of [pin(storage, BOARD, '1'), issuesOn(storage, BOARD)]) {
      await expect(call).rejects.toMatchObject({
        code: 'STORAGE_UNAVAILABLE',
        details: { outcome: 'nothing-done', closed: true },
      })
    }
  })
})
