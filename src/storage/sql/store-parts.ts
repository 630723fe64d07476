import type { EventLog } from './event-log.ts'
import type { Heads } from './heads.ts'
import type { SqlRuntime } from './session.ts'
import type { SqlContext } from './sql-context.ts'

/** What every store is made of. */
export interface StoreParts<Tx> {
  readonly context: SqlContext
  readonly runtime: SqlRuntime<Tx>
  readonly heads: Heads
  readonly log: EventLog
}
