import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Queryable } from '../session.ts'
import { execute } from '../session.ts'
import type { MigratedTables } from './migration.ts'
import { statementsOf } from './migration.ts'

/** Migrates inside a transaction that holds the write lock. Another process may have migrated already. */
export function* migrateAtOnce(schema: MigratedTables, session: Queryable): SyncOrAsync<void> {
  yield* schema.migrate(session, function* (part) {
    for (const statement of statementsOf(part)) yield* execute(session, statement)
  })
}
