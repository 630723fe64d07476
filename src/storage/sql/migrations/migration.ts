import type { SqlContext } from '../sql-context.ts'
import type { NewIndex } from './new-index.ts'
import type { SchemaStatement } from './schema-statement.ts'

/** One step of the schema. Once released it never changes. */
export interface Migration {
  /** 1, 2, 3 … */
  readonly version: number
  /** The oldest library, by its schema's version, that can use the tables after this step. Minor versions only add. */
  readonly oldestLibrary: number
  /**
   * New indexes on tables and columns that earlier steps made. They are made first, where that is possible without
   * stopping who reads and writes there; so an index on a column that this step adds has to wait for the next step.
   */
  indexes(context: SqlContext): readonly NewIndex[]
  /** New tables with their indexes, new views, new columns: all or none, where the database can. */
  statements(context: SqlContext): readonly SchemaStatement[]
}
