import { setTimeout as pause } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { TestDatabase } from '../databases.ts'
import { newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import type { HostTables } from '../storage/client-kinds.ts'
import { heldOpen } from '../storage/client-kinds.ts'
import { issueRecord } from '../world.ts'
import { hostOn, tablesOf, trackerSuite, USERS } from './tracker-suite.ts'

const NAME = 'tracker-kysely.mjs'

onDatabase(POSTGRES, () => {
  let database: TestDatabase
  let repositoryId = 10
  beforeAll(async () => {
    database = await newDatabase(POSTGRES, { atEnd: afterAll })
    await database.run(await tablesOf(NAME))
    await database.run(`insert into "user" ${USERS}`)
  })

  const open = async () => {
    const pool = new pg.Pool({ connectionString: database.url })
    pool.on('error', () => undefined) // the database may go before its last connection has ended
    const handle = new Kysely<HostTables>({ dialect: new PostgresDialect({ pool }) })
    repositoryId += 1 // a database has one test after the other
    return {
      handle,
      storage: postgresStorage(handle),
      repositoryId,
      begin: () => heldOpen(handle.transaction()),
      close: () => handle.destroy(),
    }
  }

  describe(`examples/${NAME}`, () => {
    trackerSuite(NAME, open)

    test('an import waits while a user creates an issue, and does not replace that', async () => {
      const host = await hostOn(NAME, open)
      const { exchange } = host.forge
      const { number, transaction } = await host.createIssueIn()
      const request = { repositoryId: host.repositoryId, records: [issueRecord(number)] }
      const imported = exchange.import('system', request)
      const ended = await Promise.race([imported.then(String, String), pause(500, 'waits')])
      await transaction.commit()

      expect(ended).toBe('waits')
      await expect(imported).rejects.toThrow()
      await expect(exchange.import('system', request)).rejects.toMatchObject({ code: 'IMPORT_CONFLICT' })
      const titles: string[] = []
      for await (const { title } of exchange.export('system', host.repositoryId)) titles.push(title)
      expect(titles).toEqual(['Read this first'])
      await host.close()
    })
  })
})

onDatabase(POSTGRES, () => {
  const name = 'tracker-columns-postgres.mjs'
  let database: TestDatabase
  let repositoryId = 10
  beforeAll(async () => {
    database = await newDatabase(POSTGRES, { atEnd: afterAll })
    await database.run(await tablesOf(name))
    await database.run(`insert into users ${USERS.replaceAll(/\d/g, "'$&'")}`)
  })

  describe(`examples/${name}`, () => {
    trackerSuite(name, async () => {
      const pool = new pg.Pool({ connectionString: database.url })
      pool.on('error', () => undefined)
      repositoryId += 1
      return {
        handle: pool,
        storage: postgresStorage<pg.PoolClient>(pool),
        repositoryId,
        async begin() {
          const transaction = await pool.connect()
          await transaction.query('begin')
          const end = (statement: string) => async () => {
            await transaction.query(statement)
            transaction.release()
          }
          return { transaction, commit: end('commit'), rollback: end('rollback') }
        },
        close: () => pool.end(),
      }
    })
  })
})
