import type { SqlFault } from './sql-fault.ts'
import type { StorageFault } from './storage-fault.ts'

/** The kinds of storage, as the table names them. */
export type KindName = 'memory' | 'SQLite file' | 'SQLite memory' | 'PGlite' | 'PostgreSQL' | 'MariaDB'

/** A storage that breaks one rule, and the case that catches it. */
export interface PlantedStorage {
  /** What it does. */
  readonly fault: string
  /** Where it can do it. */
  readonly kinds: readonly KindName[]
  /** The name of a case of the contract. */
  readonly caughtBy: string
  readonly plant: StorageFault | SqlFault
}

/** SQLite alone. */
export const SQLITE: readonly KindName[] = ['SQLite file', 'SQLite memory']
/** Every SQL database. */
export const SQL: readonly KindName[] = [...SQLITE, 'PGlite', 'PostgreSQL', 'MariaDB']
/** Every kind. */
export const EVERY: readonly KindName[] = ['memory', ...SQL]
/** Where `beforeCommit` may wait in a host's transaction. */
export const WAITING_TRANSACTIONS: readonly KindName[] = ['PGlite', 'PostgreSQL', 'MariaDB']
/** Where several writers are at work at once. */
export const SERVERS: readonly KindName[] = ['PostgreSQL', 'MariaDB']
/** Where they do not meet but by the locks of heads: MariaDB reads what is not committed behind the lock, and waits. */
export const POSTGRES: readonly KindName[] = ['PostgreSQL']
