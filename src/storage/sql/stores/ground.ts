import { hasMethods, isObject } from '../../../schema/arguments.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlContext } from '../context.ts'
import type { CallLimits } from '../retry.ts'
import type { Schema } from '../schema/schema.ts'
import type { Session, SqlRuntime } from '../session.ts'

/** A storage in a database, and what it runs on: a host can keep its tables beside those of the storage. */
export interface HostedStorage<Tx> {
  readonly storage: ForgeStorage<Tx>
  readonly context: SqlContext
  readonly runtime: HostedRuntime<Tx>
}

/** The runtime of a storage, as a host uses it. */
export interface HostedRuntime<Tx> extends SqlRuntime<Tx> {
  /** Runs work once, whatever the state of the tables. */
  plainly<T>(work: (session: Session) => MaybePromise<T>, limits?: CallLimits): Promise<T>
  /**
   * Runs work once in a transaction of our own, which it may also use as a host's. On SQLite the work must not return a
   * promise.
   */
  inTransaction<T>(work: (session: Session, transaction: Tx) => MaybePromise<T>, limits: CallLimits): Promise<T>
  /** Migrates tables: those of the storage, or of a host. */
  migrate(tables: Schema): Promise<void>
}

/** What a storage runs on. */
export type Ground = Omit<HostedStorage<unknown>, 'storage'>

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
  return isObject(ground) && 'runtime' in ground && hasMethods(ground.runtime, 'plainly', 'migrate')
}
