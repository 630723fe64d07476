import { expect, test } from 'vitest'
import { copyForge } from '../../src/storage/copy.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { SqlStatement, SqlStorage } from '../../src/storage/storage.ts'
import type { AnyKind } from '../databases.ts'
import { newDatabase, onDatabases, SQLITE } from '../databases.ts'
import { forgeOn } from './forge-on.ts'

type Statement = SqlStatement<{ readonly title: string }>

const CREATE = { sql: 'create table notes (id integer primary key, title varchar(50))' }
const ALL: Statement = { sql: 'select title from notes order by id' }

/** Defines what `storage.database` does for a host on these databases. */
export function databaseSuite(kinds: readonly AnyKind[]): void {
  onDatabases(kinds, (_open, kind) => {
    const insert = (id: number, title: string): SqlStatement => ({
      sql: `insert into notes (id, title) values (${kind.name === 'PostgreSQL' ? '$1, $2' : '?, ?'})`,
      parameters: [id, title],
    })
    const opened = async () => {
      const storage = storageOf((await newDatabase(kind)).url)
      await storage.database.transaction((open) => storage.database.rows(CREATE, open))
      return storage
    }

    test('runs statements of the host before the tables of the forge are there', async () => {
      const { database } = await opened()
      await database.transaction((open) => database.rowsOfEach([insert(2, 'b'), insert(1, 'a')], open))

      expect(await database.rows(ALL)).toEqual([{ title: 'a' }, { title: 'b' }])
      await expect(database.check()).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
    })

    test('commits what the host and the forge write together, or nothing of it', async () => {
      const storage = await opened()
      const { database } = storage
      await storage.migrate()
      await database.check()
      const forge = forgeOn(storage)
      const pinned = () => forge.pins.list('system', { repositoryId: 1, kind: 'issue' })
      const issue = { id: 1, repositoryId: 1, kind: 'issue' } as const
      const write = (fails: boolean) =>
        database.transaction((open) => {
          if (storage.transactions === 'synchronous') {
            database.rows(insert(1, 'a'), open)
            forge.withTransactionSync(open, ({ pins }) => pins.pin('system', issue).position)
            if (fails) throw new Error('no')
            return 'done'
          }
          return (async () => {
            await database.rows(insert(1, 'a'), open)
            await forge.withTransaction(open, ({ pins }) => pins.pin('system', issue))
            if (fails) throw new Error('no')
            return 'done'
          })()
        })

      await expect(write(true)).rejects.toThrow('no')
      expect([await database.rows(ALL), await pinned()]).toEqual([[], []])
      expect(await write(false)).toBe('done')
      expect([await database.rows(ALL), await pinned()]).toMatchObject([[{ title: 'a' }], [{ issueId: '1' }]])
    })

    test('passes on at once what a key of the host refuses', async () => {
      const { database } = await opened()
      const sql = 'create table remarks (note integer, foreign key (note) references notes (id))'
      await database.transaction((open) => database.rows({ sql }, open))
      let attempts = 0
      const writing = database.transaction((open) => {
        attempts += 1
        return database.rows({ sql: 'insert into remarks values (7)' }, open)
      })

      await expect(writing).rejects.toThrow(/foreign key/i)
      expect(attempts).toBe(1)
    })

    test('copies a table of the host with those of the forge', async () => {
      const [storage, target] = [await opened(), storageOf((await newDatabase(SQLITE)).url)]
      const { database } = storage
      await storage.migrate()
      await target.database.transaction((open) =>
        target.database.rows({ sql: 'create table remarks (id integer primary key, title text)' }, open),
      )
      await database.transaction((open) => database.rows(insert(7, 'näht'), open))
      const table = { name: 'notes', from: { table: 'notes' }, to: { table: 'remarks' }, key: ['id'] }
      const columns = { id: 'integer', title: 'text' } as const
      const { rows } = await copyForge(storage, target, { tables: [{ ...table, columns }] })

      expect(rows).toMatchObject({ notes: 1, badges: 0 })
      expect(await target.database.rows({ sql: 'select * from remarks' })).toEqual([{ id: 7, title: 'näht' }])
    })
  })
}

function storageOf(url: string): SqlStorage<never> {
  const storage = url.startsWith('postgres')
    ? postgresStorage(url)
    : url.includes('://')
      ? mariadbStorage(url)
      : sqliteStorage(url)
  return storage as unknown as SqlStorage<never>
}
