import type { Statement } from '../query.ts'
import type { SqlContext } from '../sql-context.ts'

/** One step of the schema. Once released it never changes. */
export interface Migration {
  /** 1, 2, 3 … */
  readonly version: number
  /** The oldest library, by its schema's version, that can use the tables after this step. Minor versions only add. */
  readonly oldestLibrary: number
  statements(context: SqlContext): readonly Statement<unknown>[]
}
