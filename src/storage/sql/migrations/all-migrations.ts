import { firstTables } from './first-tables.ts'
import type { Migration } from './migration.ts'
import { outbox } from './outbox.ts'

/** Every step of the schema, in order. */
export const ALL_MIGRATIONS: readonly Migration[] = [firstTables, outbox]
