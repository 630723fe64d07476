import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { promiseTry, runMaybeAsync } from '../../../schema/sync-or-async.ts'
import { Schema } from '../schema/schema.ts'
import { TABLE_DESCRIPTIONS } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import { queryEach, queryFirst } from '../session.ts'
import type { CopiedDatabase } from './copied-database.ts'
import { statesOf, tablesOf } from './copied-database.ts'
import type { CopiedRow, TableState } from './table-rows.ts'
import { TableRows } from './table-rows.ts'

const UNLIMITED = { milliseconds: Number.POSITIVE_INFINITY }

/** What is known of a source before its rows are read. */
export interface Overview {
  /** Of each table, in the order of the tables. */
  readonly states: readonly TableState[]
  /** The last key that the source has assigned in each table; 0 where we assign them. */
  readonly lastKeys: readonly number[]
  readonly outbox: CopiedRow | undefined
}

/** The database that is copied. */
export class CopySource {
  readonly tables: readonly TableRows[]
  readonly #database: CopiedDatabase

  constructor(database: CopiedDatabase) {
    this.tables = tablesOf(database)
    this.#database = database
  }

  /** Runs work once on a connection that sees the database as it is now, until the work is done. */
  inSnapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { begin, end } = this.#database.context.dialect.copying
    return this.#database.runtime.onConnection(async (session) => {
      try {
        await session.batch(begin)
        return await work(session)
      } finally {
        await promiseTry(() => session.batch(end)).catch(() => undefined) // the connection may be lost
      }
    }, UNLIMITED)
  }

  /** @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE` if the tables cannot be used */
  *overview(session: Session): SyncOrAsync<Overview> {
    const { context } = this.#database
    yield* new Schema(context).refuseUnusable(session)
    const outbox = new TableRows(context, 'outbox', TABLE_DESCRIPTIONS.outbox)
    const numbered = this.tables.filter(({ isNumbered }) => isNumbered)
    const keys = yield* queryEach<{ readonly last: number }[]>(
      session,
      numbered.map(({ location }) => context.dialect.copying.lastKey(location)),
    )
    return {
      states: yield* statesOf(session, this.tables),
      lastKeys: this.tables.map((table) => keys[numbered.indexOf(table)]?.[0]?.last ?? 0),
      outbox: yield* queryFirst(session, outbox.page(undefined, 1)),
    }
  }

  /** Reads the state that each table has now, however long that takes. */
  states(): Promise<readonly TableState[]> {
    return this.inSnapshot(async (session) => runMaybeAsync(statesOf(session, this.tables)))
  }
}
