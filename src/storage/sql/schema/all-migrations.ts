import { firstTables } from './001-tables.ts'
import { outbox } from './002-outbox.ts'
import type { Migration } from './migration.ts'
import type { MigrationTables } from './tables.ts'

/** By version. The tables of a migration have rows only in `MigrationTables`, which asks for the migration. */
const MIGRATIONS: Readonly<Record<keyof MigrationTables, Migration>> = { 1: firstTables, 2: outbox }

/** Every migration of the schema, in order. */
export const ALL_MIGRATIONS: readonly Migration[] = Object.values(MIGRATIONS)
