import type { ForgeErrorDetails } from '../../../schema/errors.ts'
import { ForgeError } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { TableDescription } from '../schema/tables.ts'
import { TABLE_DESCRIPTIONS } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import { queryEach } from '../session.ts'
import type { Ground } from '../stores/ground.ts'
import type { TableContext, TableState } from './table-rows.ts'
import { TableRows } from './table-rows.ts'

/** A database that is copied, or copied to. */
export interface CopiedDatabase extends Ground {
  /** The tables of a host that are copied with those of the forge, by name without prefix. */
  readonly host?: { readonly context: TableContext; readonly tables: Readonly<Record<string, TableDescription>> }
  /** Brings all tables up to date. */
  migrate(): Promise<void>
  /** Calls `work`, which reads or writes the target, and marks its errors as those of the target. Default: calls it alone. */
  readonly inTarget?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
}

/** Returns what is copied: everything but the rows that each database has of its own. */
export function tablesOf({ context, host }: CopiedDatabase): readonly TableRows[] {
  const { ledger: _ledger, outbox: _outbox, host_tables: _hostTables, ...forge } = TABLE_DESCRIPTIONS
  const rows = (of: TableContext, tables: Readonly<Record<string, TableDescription>>) =>
    Object.entries(tables).map(([name, description]) => new TableRows(of, name, description))
  return [...(host === undefined ? [] : rows(host.context, host.tables)), ...rows(context, forge)]
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
