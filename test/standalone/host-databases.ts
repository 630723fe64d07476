import { afterAll } from 'vitest'
import type { HostDatabase } from '../../src/standalone/host-store/host-database.ts'
import { openMysqlDatabase } from '../../src/standalone/host-store/mysql-database.ts'
import { openPostgresDatabase } from '../../src/standalone/host-store/postgres-database.ts'
import { openSqliteDatabase } from '../../src/standalone/host-store/sqlite-database.ts'
import type { AnyKind } from '../databases.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES } from '../databases.ts'

/** Opens an empty database of the standalone host, until the tests of the group have run, and uses it. */
export type OpenHostDatabase = <T>(use: <Tx>(database: HostDatabase<Tx>) => Promise<T>) => Promise<T>

/** Defines the same tests on several kinds of databases. */
export function onHostDatabases(kinds: readonly AnyKind[], suite: (open: OpenHostDatabase) => void): void {
  onDatabases(kinds, (_open, kind) => {
    const ends: (() => Promise<unknown>)[] = []
    afterAll(async () => {
      for (const end of ends) await end()
    })
    suite(async (use) => {
      const { url } = await newDatabase(kind, { atEnd: (end) => void ends.unshift(end) })
      if (kind.name === POSTGRES.name) return use(closing(openPostgresDatabase(url, {}), ends))
      if (kind.name === MARIADB.name) return use(closing(openMysqlDatabase(url, {}), ends))
      const database = await openSqliteDatabase(url, undefined)
      ends.unshift(async () => database.close())
      return use(closing(database, ends))
    })
  })
}

function closing<Database extends { readonly storage: { close(): Promise<void> } }>(
  database: Database,
  ends: (() => Promise<unknown>)[],
): Database {
  ends.unshift(() => database.storage.close())
  return database
}
