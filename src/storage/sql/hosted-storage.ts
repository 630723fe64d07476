import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { ForgeStorage } from '../contract/storage.ts'
import type { SqlContext } from './context.ts'
import type { Schema } from './schema/schema.ts'
import type { CallLimits } from './servers/call.ts'
import type { Session, SqlRuntime } from './session.ts'

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
