import { destroySocket } from '../server/sockets.ts'

/** A query as mysql2 takes it: whatever its host has set on the connection, rows come as the query says. */
export interface MysqlQuery {
  readonly sql: string
  readonly values: (string | number | Uint8Array | null)[]
  readonly rowsAsArray: boolean
  readonly nestTables: boolean
  readonly namedPlaceholders: boolean
  /** Reads one value of a row; `next` reads it as mysql2 does. */
  readonly typeCast: (field: unknown, next: () => unknown) => unknown
}

/** A connection of `mysql2/promise`, by the calls that are made on it. */
export interface MysqlConnection {
  /** Runs one statement, its parameters apart from its text; the first element of the answer has the rows. */
  execute(query: MysqlQuery): Promise<unknown>
  /** Runs one statement that has no parameters. */
  query(query: string | MysqlQuery): Promise<unknown>
}

/** A connection out of a pool. */
export interface MysqlPoolConnection extends MysqlConnection {
  /** Gives the connection back. */
  release(): void
  /** Ends a connection that nobody can use any more. */
  destroy(): void
}

/** A pool of `mysql2/promise`, by the call that is made on it. */
export interface MysqlPool<C extends MysqlConnection = MysqlConnection> {
  /** Gives a connection, as soon as one is free. */
  getConnection(): Promise<C & MysqlPoolConnection>
}

/** A pool that we opened, and end. */
export interface OwnPool<C extends MysqlConnection> extends MysqlPool<C> {
  end(): Promise<void>
  /** Reports each connection that is made, as mysql2 itself has it. */
  on(event: 'connection', listener: (connection: unknown) => void): unknown
}

/** Whether a value is a connection of `mysql2/promise`. */
export function isConnection(value: unknown): value is MysqlConnection {
  return hasMethod(value, 'execute') && hasMethod(value, 'query') && !speaksCallbacks(value)
}

/** Whether a value is a pool of `mysql2/promise`. */
export function isPool(value: unknown): value is MysqlPool {
  return hasMethod(value, 'getConnection') && !speaksCallbacks(value)
}

/** Whether a value is a pool that can be ended. */
export function isOwnPool(value: unknown): value is OwnPool<MysqlConnection> {
  return isPool(value) && hasMethod(value, 'end') && hasMethod(value, 'on')
}

/** Whether a pool or connection is of `mysql2` itself, whose calls answer nothing: they take a callback. */
export function speaksCallbacks(value: unknown): boolean {
  return hasMethod(value, 'promise')
}

/** The connection itself: a pool wraps it anew each time it hands it out. */
export function physical(connection: MysqlConnection): object {
  return 'connection' in connection && typeof connection.connection === 'object' && connection.connection !== null
    ? connection.connection
    : connection
}

/** Destroys a connection whose server is silent: mysql2 itself would wait for the server to close the socket. */
export function destroyNow(connection: MysqlPoolConnection): void {
  connection.destroy()
  destroySocket(Reflect.get(physical(connection), 'stream'), new Error('the server did not answer'))
}

/** A connection, by what it emits when it is lost while nothing runs on it. */
interface Emitter {
  on(event: 'error', listener: (error: unknown) => void): unknown
  listeners(event: 'error'): readonly unknown[]
}

/** Whether a connection emits events, and tells who listens. */
export function hasListeners(value: unknown): value is Emitter {
  return hasMethod(value, 'on') && hasMethod(value, 'listeners')
}

function hasMethod(value: unknown, name: string): value is object {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
}
