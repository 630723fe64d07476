// What hosts of postgres.js and the package mariadb see of the storage on their own pools.
import { createPool } from 'mariadb'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { listenerWarnings } from './listener-warnings.ts'
import { cutAtCommit } from './proxies.ts'

onServer(SERVERS.postgres, () => {
  test('a host of postgres.js gets no notice of the server, which postgres.js would print', async () => {
    const { url } = await newDatabase(POSTGRES)
    const notices: unknown[] = []
    const sql = postgres(url, { onnotice: ({ message }) => void notices.push(message) })
    onTestFinished(() => sql.end())
    const storage = postgresStorage(sql)
    for (let times = 0; times < 2; times += 1) {
      await storage.migrate()
      await pin(storage, BOARD, '1')
      await issuesOn(storage, BOARD)
    }
    await block(storage, '5', '9')
    await expect(block(storage, '5', '9')).rejects.toMatchObject({ code: 'ALREADY_BLOCKED' })

    expect(notices).toEqual([])
  })

  test.each([
    ['open', 'insert into host_left_open values (1)'],
    ['failed', 'select 1 / 0'],
  ])('a host of postgres.js that leaves a transaction %s on a connection loses it', async (_state, text) => {
    const { url } = await newDatabase(POSTGRES)
    const sql = postgres(url, { max: 1, onnotice: () => undefined })
    onTestFinished(() => sql.end())
    const storage = postgresStorage(sql)
    await storage.migrate()
    await issuesOn(storage, BOARD)
    await sql.unsafe('create table host_left_open (n integer)')
    const connection = await sql.reserve()
    await connection.unsafe('begin')
    await connection.unsafe(text).catch(() => undefined)
    connection.release()
    await pin(storage, BOARD, '1')

    expect(await sql.unsafe('select * from host_left_open')).toEqual([])
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })
})

onServer(SERVERS.postgres, () => {
  // postgres.js 3.4.9 throws outside of every call if something is sent on a connection that was lost while it was reserved.
  test.each(['before', 'after'] as const)(
    'a host of postgres.js whose connection is lost %s COMMIT goes on',
    async (moment) => {
      const { url } = await newDatabase(POSTGRES)
      const direct = postgresStorage(url)
      onTestFinished(() => direct.close())
      await direct.migrate()
      const proxy = await cutAtCommit(url, moment, 'commit\0')
      onTestFinished(proxy.end)
      const sql = postgres(proxy.url, { max: 2, onnotice: () => undefined })
      onTestFinished(() => sql.end({ timeout: 1 }))
      const storage = postgresStorage(sql)
      const thrown: unknown[] = []
      const onThrown = (error: unknown) => void thrown.push(error)
      process.on('uncaughtException', onThrown)
      onTestFinished(() => void process.off('uncaughtException', onThrown))
      for (const issueId of ['1', '2', '3']) {
        const lost = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }
        await expect(pin(storage, BOARD, issueId)).rejects.toMatchObject(lost)
      }

      expect(await issuesOn(storage, BOARD)).toEqual(moment === 'before' ? [] : ['1', '2', '3'])
      expect(thrown).toEqual([])
    },
  )
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
})
