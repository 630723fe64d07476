import type { Steps } from '../../../schema/steps.ts'
import type { Place } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Asking } from '../session.ts'
import type { SchemaStatement } from './schema-statement.ts'

/** How the schema is changed on a server whose tables are in use. */
export interface SchemaChanges {
  /** Takes the lock that keeps other sessions from migrating there, or tells that one has it. Waits for nobody. */
  lock(place: Place): Statement<{ readonly lock: 'taken' | 'busy' }>
  /** Gives the lock back. */
  unlock(place: Place): Statement<unknown>
  /** Parts statements into those that are run together or not at all. */
  units(statements: readonly SchemaStatement[]): readonly (readonly SchemaStatement[])[]
  /** Runs one such unit. It waits for a table no longer than two seconds: others wait behind it. @throws ForgeError `STORAGE_BUSY` */
  run(session: Asking, unit: readonly SchemaStatement[]): Steps<void>
  /** Makes an index beside who reads and writes. @throws ForgeError `STORAGE_BUSY` */
  index(session: Asking, making: IndexMaking): Steps<void>
}

/** An index to be made. */
export interface IndexMaking {
  readonly place: Place
  readonly statement: SchemaStatement
  /** How long to wait, in milliseconds, for transactions that use the table, where nobody waits behind an index. */
  readonly wait: number
}
