import type { CopiedDatabase } from '../../../src/storage/sql/copy/copied-database.ts'
import type { CopyOptions, CopyReport } from '../../../src/storage/sql/copy/copy-tables.ts'
import { copyTables } from '../../../src/storage/sql/copy/copy-tables.ts'
import { unavailable } from '../../../src/storage/sql/errors.ts'
import { groundOf } from '../../../src/storage/sql/stores/ground.ts'
import type { HostDatabase } from './host-database.ts'
import type { DatabaseLocation, TableOptions } from './open-host-database.ts'
import { databaseStatus, onExistingDatabase, withHostDatabase } from './open-host-database.ts'
import { HOST_TABLES } from './tables.ts'

/** How a database is copied. */
export interface DatabaseCopyOptions extends CopyOptions {
  /** The types of ids and the tables of the host, for the forge of an application. */
  readonly tables?: TableOptions | undefined
  /** Calls `work`, which reads or writes the target, and marks its errors as those of the target. */
  readonly inTarget: CopiedDatabase['inTarget']
}

/**
 * Copies the tables of a forge to another database, with those of the ready server unless it is the forge of an application.
 *
 * @throws ForgeError `COPY_REFUSED`, `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
 */
export async function copyDatabase(
  from: DatabaseLocation,
  to: DatabaseLocation,
  { tables, inTarget, ...options }: DatabaseCopyOptions,
): Promise<CopyReport> {
  const { forge, server } = await databaseStatus(from, tables)
  const isOfServer = server !== 'empty' || forge.state === 'empty'
  return onExistingDatabase(
    from,
    async (source) => {
      if (isOfServer) await source.check()
      return withHostDatabase(
        to,
        (target) => copyTables(copied(source, isOfServer), { ...copied(target, isOfServer), inTarget }, options),
        tables,
      )
    },
    tables,
  )
}

function copied<Tx>(database: HostDatabase<Tx>, isOfServer: boolean): CopiedDatabase {
  const { storage, context } = database
  const ground = groundOf(storage)
  if (ground === undefined) throw unavailable('it cannot be copied')
  if (!isOfServer) return { ...ground, migrate: () => storage.migrate() }
  return { ...ground, host: { context, tables: HOST_TABLES }, migrate: () => database.migrate() }
}
