/** How pg is to read the columns of one query. */
export interface PgTypes {
  /** The reader for values of a type, by its number in the catalogue. */
  getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown
}

/** One query, as pg takes it. */
export interface PgQuery {
  readonly text: string
  readonly values: unknown[]
  /** The name it is kept under on the connection, once prepared. */
  readonly name?: string
  readonly types?: PgTypes
}

/** A connection of pg's, by the call that is made on it: a `Client`, or one that a `Pool` gave. */
export interface PgClient {
  /** Runs one query; several statements without values, too. */
  query(query: PgQuery): Promise<{ readonly rows: readonly unknown[] }>
}

/** A client that goes back to its pool; to be closed, when something is wrong with it. */
export interface PgPoolClient extends PgClient {
  /** Gives it back, or closes it. */
  release(destroy?: boolean): void
}

/** A pool of pg's, by the calls that are made on it. */
export interface PgPool extends PgClient {
  /** Takes a client out of the pool, once one is free. */
  connect(): Promise<PgPoolClient>
}

/** Whether a value has the call of a client. */
export function isPgClient(value: unknown): value is PgClient {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function'
}

/** Whether a value has the calls of a pool. A client has them too, and parsers of its own beside them. */
export function isPgPool(value: unknown): value is PgPool {
  return isPgClient(value) && 'connect' in value && typeof value.connect === 'function' && !('getTypeParser' in value)
}
