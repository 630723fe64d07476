import type { ForgeErrorDetails } from '../../../schema/errors.ts'
import { ForgeError } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { HostTableName } from '../dialect.ts'
import { Schema } from '../schema/schema.ts'
import { TABLE_DESCRIPTIONS } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import { queryEach, queryFirst } from '../session.ts'
import type { Ground } from '../stores/ground.ts'
import type { CopiedTable } from './copy-options.ts'
import type { CopiedRow, TableState } from './table-rows.ts'
import { TableRows } from './table-rows.ts'

/** A database that is copied, or copied to. */
export interface CopiedDatabase extends Ground {
  /** The tables of the host that are copied before those of the forge. */
  readonly hosts: readonly (CopiedTable & { readonly location: HostTableName })[]
  /** Brings the tables of the forge up to date. */
  migrate(): Promise<void>
}

/** Returns what is copied: everything but the rows that each database has of its own. */
export function tablesOf({ context, hosts }: CopiedDatabase): readonly TableRows[] {
  const { ledger: _ledger, outbox: _outbox, host_tables: _hostTables, ...forge } = TABLE_DESCRIPTIONS
  return [
    ...hosts.map((table) => new TableRows(context, table.name, table, table.location)),
    ...Object.entries(forge).map(([name, description]) => new TableRows(context, name, description)),
  ]
}

/** What is known of a source before its rows are read. */
export interface Overview {
  /** Of each table, in the order of the tables. */
  readonly states: readonly TableState[]
  /** The last key that the source has assigned in each table; 0 where we assign them. */
  readonly lastKeys: readonly number[]
  readonly outbox: CopiedRow | undefined
}

/** @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE` if the tables cannot be used */
export function* overviewOf(
  session: Session,
  { context }: CopiedDatabase,
  tables: readonly TableRows[],
): SyncOrAsync<Overview> {
  yield* new Schema(context).refuseUnusable(session)
  const outbox = new TableRows(context, 'outbox', TABLE_DESCRIPTIONS.outbox)
  const numbered = tables.filter(({ isNumbered }) => isNumbered)
  const keys = yield* queryEach<{ readonly last: number }[]>(
    session,
    numbered.map(({ location }) => context.dialect.copying.lastKey(location)),
  )
  return {
    states: yield* statesOf(session, tables),
    lastKeys: tables.map((table) => keys[numbered.indexOf(table)]?.[0]?.last ?? 0),
    outbox: yield* queryFirst(session, outbox.page(undefined, 1)),
  }
}

/** Reads the state of each table. */
export function* statesOf(session: Session, tables: readonly TableRows[]): SyncOrAsync<readonly TableState[]> {
  const states = yield* queryEach<TableState[]>(
    session,
    tables.map((table) => table.state()),
  )
  return states.map(([state]) => state ?? { count: 0, grown: 0 })
}

/** Creates the error for a copy that is not made, or that cannot be used. */
export function refused(
  reason: ForgeErrorDetails['COPY_REFUSED']['reason'],
  message: string,
  cause?: unknown,
): ForgeError<'COPY_REFUSED'> {
  return new ForgeError('COPY_REFUSED', message, { reason }, { cause })
}
