import type { SyncOrAsync } from '../../../src/schema/sync-or-async.ts'
import { after, runMaybeAsync, wait } from '../../../src/schema/sync-or-async.ts'
import type { SchemaStorageOptions, SqlContext } from '../../../src/storage/sql/context.ts'
import type { SqlDialect } from '../../../src/storage/sql/dialect.ts'
import type { SqlValue, Statement } from '../../../src/storage/sql/query.ts'
import type { HeadScope } from '../../../src/storage/sql/schema/tables.ts'
import type { DatabaseServer, DatabaseServerParts } from '../../../src/storage/sql/server/database-server.ts'
import type { TransactionQueues } from '../../../src/storage/sql/server/transaction-queues.ts'
import type { Session, SqlRuntime } from '../../../src/storage/sql/session.ts'
import type { HeadKey } from '../../../src/storage/sql/stores/locks.ts'

/** Makes a storage over an SQL database break one rule. */
export interface SqlFault {
  /** In how the database is spoken to. */
  readonly dialect?: (dialect: SqlDialect) => SqlDialect
  /** In how the stores' work is run. */
  readonly runtime?: <Tx>(runtime: SqlRuntime<Tx>, context: SqlContext) => SqlRuntime<Tx>
  /** In how a server is used. */
  readonly server?: <Tx extends object>(parts: DatabaseServerParts<Tx>) => DatabaseServer<Tx>
  /** In how the calls of one transaction on a server take turns. */
  readonly queues?: <Tx extends object>(server: DatabaseServer<Tx>) => TransactionQueues<Tx>
  /** In what the host passed to the storage. */
  readonly options?: (options: SchemaStorageOptions) => SchemaStorageOptions
  /** In the tables. Each is run after every migration. */
  readonly afterMigration?: (context: SqlContext) => readonly Statement<unknown>[]
}

/** Runs a statement of a session, or something else in its place. */
export type Interception = <Row>(session: Session, statement: Statement<Row>) => SyncOrAsync<readonly Row[]>

/** A fault in what the changes run; `make` is called again for each attempt. */
export function inWrites(make: (context: SqlContext) => Interception): SqlFault {
  return {
    runtime: (runtime, context) => ({
      ...plainly(runtime),
      write: (work, circumstances) =>
        runtime.write((session, open) => work(intercepted(session, make(context)), open), circumstances),
    }),
  }
}

/** A fault in whatever is run, reads too; `make` is called again for each. */
export function inAllStatements(make: (context: SqlContext) => Interception): SqlFault {
  return {
    runtime: (runtime, context) => ({
      seesUncommitted: runtime.seesUncommitted,
      read: (work, transaction) => runtime.read((session) => work(intercepted(session, make(context))), transaction),
      readSnapshot: (work, transaction) =>
        runtime.readSnapshot((session) => work(intercepted(session, make(context))), transaction),
      write: (work, circumstances) =>
        runtime.write((session, open) => work(intercepted(session, make(context)), open), circumstances),
    }),
  }
}

/** The calls of a runtime as plain functions, to put others in their place. */
export function plainly<Tx>(runtime: SqlRuntime<Tx>): SqlRuntime<Tx> {
  return {
    seesUncommitted: runtime.seesUncommitted,
    read: (work, transaction) => runtime.read(work, transaction),
    readSnapshot: (work, transaction) => runtime.readSnapshot(work, transaction),
    write: (work, circumstances) => runtime.write(work, circumstances),
  }
}

/** A session of which every statement goes another way. */
export function intercepted(session: Session, interception: Interception): Session {
  return sessionOver((statement) => interception(session, statement), { lend: (work) => session.lend(work) })
}

/** A session that runs its statements in one way, one after the other. */
export function sessionOver(
  run: <Row>(statement: Statement<Row>) => SyncOrAsync<readonly Row[]>,
  { lend }: Pick<Session, 'lend'>,
): Session {
  return {
    all: (statement) => runMaybeAsync(run(statement)),
    first: (statement) => after(runMaybeAsync(run(statement)), ([row]) => row),
    batch: (statements) => runMaybeAsync(each(statements)),
    defer: (statement, check) => runMaybeAsync(checked(statement, check)),
    lend: (work) => lend(work),
  }

  function* each(statements: readonly Statement<unknown>[]): SyncOrAsync<readonly (readonly unknown[])[]> {
    const rows: (readonly unknown[])[] = []
    for (const statement of statements) rows.push(yield* run(statement))
    return rows
  }

  function* checked<Row>(statement: Statement<Row>, check?: (rows: readonly Row[]) => void): SyncOrAsync<void> {
    const rows = yield* run(statement)
    check?.(rows)
  }
}

/** Runs a statement as it is. */
export function* asItIs<Row>(session: Session, statement: Statement<Row>): SyncOrAsync<readonly Row[]> {
  return yield* wait(session.all(statement))
}

/** Rows that no database gave. */
export function pretended<Row>(...rows: readonly unknown[]): readonly Row[] {
  return rows as readonly Row[] // unknown data: what a broken storage takes for the answer
}

/** Whether a statement does this with one of our tables: `insert into` heads, `from` board_pins. */
export function concerns({ sql }: Statement<unknown>, what: string, table: string): boolean {
  return new RegExp(`${what} \\S*${table}["\`]`).test(sql)
}

/** The head that a statement names in its first parameters, or in its last. */
export function headIn(parameters: readonly SqlValue[], where: 'first' | 'last'): HeadKey {
  const [scope, key] = where === 'first' ? parameters : parameters.slice(-2)
  return { scope: String(scope) as HeadScope, key: String(key) } // unknown data: the stores bound it
}

/** The head that a statement saves, and whether as retired. A head that was only read is saved by an insert. */
export function savedHead(
  statement: Statement<unknown>,
): { readonly head: HeadKey; readonly retired: boolean } | undefined {
  const { parameters } = statement
  if (concerns(statement, '^update', 'heads')) {
    return { head: headIn(parameters, 'last'), retired: parameters.at(-5) === 1 }
  }
  const isSaved = concerns(statement, '^insert into', 'heads') && parameters[2] === 1 // a lock inserts version 0
  return isSaved ? { head: headIn(parameters, 'first'), retired: parameters[4] === 1 } : undefined
}
