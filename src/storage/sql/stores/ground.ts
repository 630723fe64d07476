import { hasMethods, isObject } from '../../../schema/arguments.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { CallLimits } from '../retry.ts'
import type { Schema } from '../schema/schema.ts'
import type { Session, SqlRuntime } from '../session.ts'

/** The runtime of a storage in a database that hosts can use too. */
export interface DatabaseRuntime<Tx> extends SqlRuntime<Tx> {
  /** Runs work of the host that reads, or that is part of a transaction, whatever the state of the tables. */
  ofHost<T>(work: (session: Session) => MaybePromise<T>, transaction: Tx | undefined): MaybePromise<T>
  /** Runs work once in a transaction of our own. */
  inTransaction<T>(work: (transaction: Tx) => MaybePromise<T>, limits: CallLimits): Promise<T>
  /** Runs work once on a connection, whatever the state of the tables. */
  onConnection<T>(work: (session: Session) => MaybePromise<T>, limits?: CallLimits): Promise<T>
  /** Migrates tables, or does something else that must be alone with them. */
  migrate(tables: Schema): Promise<void>
}

/** What a storage runs on, for a copy of its tables. */
export interface Ground {
  readonly context: SqlContext
  readonly runtime: DatabaseRuntime<unknown>
}

/** Where a storage keeps it, also for another copy of the package. */
const GROUND: unique symbol = Symbol.for('forgelet.ground')

/** Returns the property by which `groundOf` finds what a storage runs on. */
export function onGround<Tx>(context: SqlContext, runtime: SqlRuntime<Tx>): object {
  return { [GROUND]: { context, runtime } }
}

/** Returns what a storage runs on. Undefined if it is not in SQLite, PostgreSQL or MariaDB. */
export function groundOf(storage: unknown): Ground | undefined {
  const ground: unknown = isObject(storage) ? Reflect.get(storage, GROUND) : undefined
  return isGround(ground) ? ground : undefined
}

/** The runtime of a Durable Object has less. */
function isGround(ground: unknown): ground is Ground {
  return isObject(ground) && 'runtime' in ground && hasMethods(ground.runtime, 'onConnection', 'migrate')
}
