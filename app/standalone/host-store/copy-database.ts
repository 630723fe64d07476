import type { CopiedTable, CopyOptions, CopyReport } from 'forgelet/storage/copy'
import { copyForge } from 'forgelet/storage/copy'
import type { DatabaseLocation, TableOptions } from './open-host-database.ts'
import { onExistingDatabase, statusOf, withHostDatabase } from './open-host-database.ts'
import type { TableLocation } from './tables.ts'
import { HOST_TABLES, isText } from './tables.ts'

/** How a database is copied. */
export interface DatabaseCopyOptions extends Pick<CopyOptions, 'empty' | 'onProgress' | 'signal'> {
  /** The types of ids and the tables of the host, for the forge of an application. */
  readonly tables?: TableOptions | undefined
  /** Calls `work`, which reads or writes the target, and marks its errors as those of the target. */
  inTarget<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Copies the tables of a forge to another database, with those of the ready server unless it is the forge of an application.
 *
 * @throws ForgeError `COPY_REFUSED`, `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
 */
export async function copyDatabase(
  from: DatabaseLocation,
  to: DatabaseLocation,
  { tables, ...options }: DatabaseCopyOptions,
): Promise<CopyReport> {
  return onExistingDatabase(
    from,
    async (source) => {
      const { forge, server } = await statusOf(source, tables)
      const isOfServer = server !== 'empty' || forge.state === 'empty'
      if (isOfServer) await source.check()
      return withHostDatabase(
        to,
        async (target) => {
          if (isOfServer) await options.inTarget(() => target.schema.migrate())
          const copied = isOfServer ? copiedTables(source.context, target.context) : []
          return copyForge(source.storage, target.storage, { ...options, tables: copied })
        },
        tables,
      )
    },
    tables,
  )
}

function copiedTables(from: TableLocation, to: TableLocation): readonly CopiedTable[] {
  return Object.entries(HOST_TABLES).map(([name, { columns, key }]) => ({
    name,
    from: { table: `${from.prefix}${name}`, schema: from.schema },
    to: { table: `${to.prefix}${name}`, schema: to.schema },
    columns: Object.fromEntries(
      Object.entries(columns).map(([column, type]) => [column, isText(type) ? 'text' : 'integer'] as const),
    ),
    key,
  }))
}
