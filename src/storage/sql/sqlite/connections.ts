import type { Connection } from './connection.ts'
import type { SqliteHandle } from './handle.ts'

/** The connections that plain calls run on. */
export interface Connections<H> {
  /** Sees what is committed. */
  readonly reader: Connection
  /** @throws ForgeError `STORAGE_BUSY` when it cannot be made ready to write just now */
  readonly writer: Connection
  /** The writer's handle: the transaction that the host's `beforeCommit` gets. */
  readonly writerHandle: H
  /** Whether reader and writer are one, as they must be for a database in memory. */
  readonly shared: boolean
  /** Whether a handle is open on the same database. */
  includes(handle: SqliteHandle): boolean
  /** Puts away a writer that nothing can be run on any more, so that the next change has another; does nothing where it is shared. */
  replaceWriter(): void
  /** Ends what we opened. */
  close(): void
}
