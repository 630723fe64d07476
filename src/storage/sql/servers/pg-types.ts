/** How pg reads the columns of one query. */
export interface PgTypes {
  /** Returns the reader for values of a type, by its number in the catalogue. */
  getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown
}

/** One query, as pg accepts it. */
export interface PgQuery {
  readonly text: string
  readonly values: unknown[]
  /** The name of the prepared statement on the connection. */
  readonly name?: string
  readonly types?: PgTypes
}

/** The answer to a query. */
export interface PgAnswer {
  readonly rows: readonly unknown[]
}

/** A connection of pg, with the call that is made on it: a `Client`, or a client of a `Pool`. */
export interface PgClient {
  /** Runs one query, or several statements without values. */
  query(query: PgQuery): Promise<PgAnswer>
}

/** A client that returns to its pool, or is closed if something is wrong with it. */
export interface PgPoolClient extends PgClient {
  /** Releases it to the pool, or closes it. */
  release(destroy?: boolean): void
}

/** A pool of pg, with the calls that are made on it. */
export interface PgPool extends PgClient {
  /** Takes a client out of the pool, once one is free. */
  connect(): Promise<PgPoolClient>
}

/** A pool that the storage opened, and ends. */
export interface OwnPool extends PgPool {
  end(): Promise<void>
  /** Calls the listener for each client that is connected. */
  on(event: 'connect', listener: (client: unknown) => void): unknown
}

/** Returns whether a value has the call of a client. */
export function isPgClient(value: unknown): value is PgClient {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function'
}

/** Returns whether a value has the calls of a pool. A client has them too, and also its own parsers. */
export function isPgPool(value: unknown): value is PgPool {
  return isPgClient(value) && 'connect' in value && typeof value.connect === 'function' && !('getTypeParser' in value)
}
