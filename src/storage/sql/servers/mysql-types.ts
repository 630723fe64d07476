import { hasMethods } from './pools.ts'

/** A query as mysql2 accepts it. Its options override those that the host has set on the connection. */
export interface MysqlQuery {
  readonly sql: string
  readonly values: (string | number | Uint8Array | null)[]
  readonly rowsAsArray: boolean
  readonly nestTables: boolean
  readonly namedPlaceholders: boolean
  /** Reads one value of a row; `next` reads it as mysql2 does. */
  readonly typeCast: (field: unknown, next: () => unknown) => unknown
}

/** A connection of `mysql2/promise`, with the calls that are made on it. */
export interface MysqlConnection {
  /** Runs one statement with its parameters separate from its text. The first element of the result has the rows. */
  execute(query: MysqlQuery): Promise<unknown>
  /** Runs one statement without parameters. */
  query(query: string | MysqlQuery): Promise<unknown>
}

/** A connection of a pool. */
export interface MysqlPoolConnection extends MysqlConnection {
  /** Releases the connection to its pool. */
  release(): void
  /** Closes a connection that can no longer be used. */
  destroy(): void
}

/** A pool of `mysql2/promise`, with the call that is made on it. */
export interface MysqlPool {
  /** Returns a connection, as soon as one is free. */
  getConnection(): Promise<MysqlPoolConnection>
}

/** A pool that the storage opened, and ends. */
export interface OwnPool extends MysqlPool {
  end(): Promise<void>
  /** Calls the listener with each new connection, as mysql2 itself has it. */
  on(event: 'connection', listener: (connection: unknown) => void): unknown
}

/** Returns whether a value is a connection of `mysql2/promise`. */
export function isConnection(value: unknown): value is MysqlConnection {
  return hasMethods(value, 'execute') && hasMethods(value, 'query') && !speaksCallbacks(value)
}

/** Returns whether a value is a pool of `mysql2/promise`. */
export function isPool(value: unknown): value is MysqlPool {
  return hasMethods(value, 'getConnection') && !speaksCallbacks(value)
}

/** Returns whether a value is a pool that can be ended. */
export function isOwnPool(value: unknown): value is OwnPool {
  return isPool(value) && hasMethods(value, 'end') && hasMethods(value, 'on')
}

/** Returns whether a pool or connection belongs to `mysql2` itself, whose calls return nothing and take a callback. */
export function speaksCallbacks(value: unknown): boolean {
  return hasMethods(value, 'promise')
}
