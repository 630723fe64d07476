import type { FirstTables } from './001-tables.ts'
import { firstTables } from './001-tables.ts'
import type { OutboxTables } from './002-outbox.ts'
import { outbox } from './002-outbox.ts'
import type { LedgerTables, Migration } from './migration.ts'

/** Every migration of the schema, in order. */
export const ALL_MIGRATIONS: readonly Migration[] = [firstTables, outbox]

/**
 * Our tables, by name without prefix: those of every migration. Ids of the host have the column type that the host
 * chose, and are text here, because every query casts them. Times are milliseconds since 1970; `retired` is 0 or 1.
 */
export interface Tables extends LedgerTables, FirstTables, OutboxTables {}
