import { firstTables } from './001-tables.ts'
import { outbox } from './002-outbox.ts'
import type { Migration } from './migration.ts'

/** Every migration of the schema, in order. */
export const ALL_MIGRATIONS: readonly Migration[] = [firstTables, outbox]
