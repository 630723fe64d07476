import type { RowDataPacket } from 'mysql2/promise'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { mysqlStorage } from '../../../../src/storage/mysql.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import type { EventFilter, ForgeStorage } from '../../../../src/storage/storage.ts'
import { BOARD, LATER, note, outbox, pin } from '../../../../src/testing/testing.ts'
import type { TestDatabase } from '../../../databases.ts'
import { MARIADB, newDatabase, onServer, POSTGRES } from '../../../databases.ts'
import { beforeFirst, watch } from '../../watched-connections.ts'

const EVENTS = 3000
const LIMIT = 10
/** More rows than a page and its look-ups read, and far fewer than there are events. */
const FEW = 100
const FILTERS: readonly EventFilter[] = [
  {},
  { repositoryId: BOARD.repositoryId },
  { actorId: '7', types: ['issue.moved', 'issue.pinned'] },
]

/** A storage that a host runs on one connection. */
interface CountedStorage {
  readonly storage: ForgeStorage<unknown>
  /** Runs a page of the audit view, and returns how many rows of tables and indexes the database read for it. */
  rowsReadBy(page: () => Promise<unknown>): Promise<number>
}

/** `tidy` does at once what the server does later: it counts for the planner, and removes old versions of rows from indexes. */
const SERVERS = [
  { kind: POSTGRES, open: onPostgres, tidy: 'vacuum analyze forgelet_events' },
  { kind: MARIADB, open: onMariadb, tidy: 'optimize table forgelet_events' },
]

for (const { kind, open, tidy } of SERVERS) {
  onServer(kind.server, (_url) => {
    test('a page of the audit view reads few rows, however many events it counts', async () => {
      const database = await newDatabase(kind)
      const { storage, rowsReadBy } = open(await migrated(database))
      await noteMany(storage)
      await outbox(storage)
      await database.run(tidy)
      const expectTotal = async (total: number): Promise<void> => {
        for (const filter of FILTERS) {
          const page = () => Promise.resolve(storage.events.list(filter, { from: { page: 1 }, limit: LIMIT }))
          expect(await page()).toMatchObject({ total })
          expect(await rowsReadBy(page)).toBeLessThan(FEW)
        }
      }

      await expectTotal(EVENTS)
      await note(storage, 5)
      await expectTotal(EVENTS + 5)
      await outbox(storage)
      await expectTotal(EVENTS + 5)
      await pin(storage, BOARD, '1')
      await storage.events.prune(LATER)
      await database.run(tidy)
      await expectTotal(1)
      await pin(storage, BOARD, '2')
      await expectTotal(2)
    })

    test('pages of the audit view number the events of a host that never reads its outbox', async () => {
      const database = await newDatabase(kind)
      const { storage, rowsReadBy } = open(await migrated(database))
      await noteMany(storage)
      const page = () => Promise.resolve(storage.events.list({}, { from: { page: 1 }, limit: LIMIT }))

      for (let each = 0; each <= EVENTS / 1000; each += 1) expect(await page()).toMatchObject({ total: EVENTS })
      await database.run(tidy)
      expect(await rowsReadBy(page)).toBeLessThan(FEW)
    })
  })
}

async function migrated(database: TestDatabase): Promise<TestDatabase> {
  await database.migrated()
  return database
}

async function noteMany(storage: ForgeStorage<unknown>): Promise<void> {
  for (let written = 0; written < EVENTS; written += 500) await note(storage, 500)
}

function onPostgres({ url }: TestDatabase): CountedStorage {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  let listen: ((text: string) => Promise<void>) | undefined
  pool.on('connect', (client) => watch(client, (text) => listen?.(text)))
  const storage = postgresStorage(pool) as ForgeStorage<unknown>
  atEnd(storage, pool)

  return {
    storage,
    /** The server counts what a connection reads, and begins again between two transactions. */
    async rowsReadBy(page) {
      const counts: number[] = []
      pool.once('acquire', (client) => {
        const count = async () => void counts.push((await client.query(ROWS_READ)).rows[0].read)
        const [atFirst, atLast] = [beforeFirst(/forgelet_/, count), beforeFirst(/^commit/, count)]
        listen = async (text) => {
          await atFirst(text)
          await atLast(text)
        }
      })
      await page()
      listen = undefined
      const [before = Number.NaN, after = Number.NaN] = counts
      return after - before
    },
  }
}

const ROWS_READ = `select cast(sum(pg_stat_get_xact_tuples_returned(relation)) as integer) as read from (
  select cast('forgelet_events' as regclass) as relation
  union all select indexrelid from pg_index where indrelid = cast('forgelet_events' as regclass)) as relations`

function onMariadb({ url }: TestDatabase): CountedStorage {
  const pool = createPool({ uri: url, connectionLimit: 1 })
  const storage = mysqlStorage(pool) as ForgeStorage<unknown>
  atEnd(storage, pool)

  return {
    storage,
    async rowsReadBy(page) {
      await pool.query('flush status')
      await page()
      const [rows] = await pool.query<RowDataPacket[]>("show session status like 'Handler_read%'")
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
    },
  }
}

function atEnd(storage: ForgeStorage<unknown>, pool: { end(): Promise<void> }): void {
  onTestFinished(async () => {
    await storage.close()
    await pool.end()
  })
}
