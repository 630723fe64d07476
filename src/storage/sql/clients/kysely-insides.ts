import { destroySocket } from './sockets.ts'

/** What every version of Kysely keeps beneath a Kysely and all objects derived from it. Its types hide it. */
interface Insides {
  readonly adapter: unknown
  provideConnection<T>(work: (connection: unknown) => Promise<T>): Promise<T>
}

/**
 * Returns whether two objects come from different Kyselys: `withSchema`, `withPlugin`, `transaction()` and similar
 * calls all pass the adapter on. False if that cannot be determined.
 */
export function comesFromAnother(database: unknown, transaction: unknown): boolean {
  const [ours, theirs] = [insidesOf(database)?.adapter, insidesOf(transaction)?.adapter]
  return ours !== undefined && theirs !== undefined && ours !== theirs
}

/**
 * Returns the connection that a Kysely is bound to, as its driver keeps it: for most drivers the same object whenever
 * it is handed out. Undefined if it cannot be determined.
 */
export async function connectionOf(bound: unknown): Promise<object | undefined> {
  const connection = await insidesOf(bound)?.provideConnection(async (found) => found)
  return typeof connection === 'object' && connection !== null ? connection : undefined
}

/**
 * The connections beneath Kysely's own dialects for pg and mysql2, which Kysely hides. A connection whose server is
 * silent must be destroyed, or the pool would hand it out again. A connection that cannot be reached stays in use until
 * its statement is answered.
 */
export class DriverConnections {
  readonly #known = new WeakMap<object, () => void>()

  /** Returns a function that destroys a connection as Kysely's drivers keep it. It does nothing for other dialects. */
  async destroyer(connection: object | undefined): Promise<() => void> {
    if (connection === undefined || !isDriverConnection(connection)) return () => undefined

    const known = this.#known.get(connection)
    if (known !== undefined) return known
    const found = await destroyerOf(connection)
    this.#known.set(connection, found)
    return found
  }
}

/** A connection as a dialect of Kysely keeps it. The query it receives goes to its driver unchanged. */
interface DriverConnection {
  executeQuery(query: { readonly sql: unknown; readonly parameters: unknown }): Promise<unknown>
}

function isDriverConnection(value: object): value is DriverConnection {
  return 'executeQuery' in value && typeof value.executeQuery === 'function'
}

async function destroyerOf(connection: DriverConnection): Promise<() => void> {
  switch (connection.constructor.name) {
    case 'PostgresConnection': {
      const found = pgConnectionOf(connection)
      return () => {
        endQuietly(found)
        destroySocket(found?.stream)
      }
    }
    case 'MysqlConnection': {
      const found = await mysqlConnectionOf(connection)
      return () => {
        found?.destroy?.()
        destroySocket(found?.stream, new Error('the server did not answer'))
      }
    }
    default:
      return () => undefined
  }
}

/** What this module uses of a connection of pg or mysql2. */
interface RawConnection {
  readonly stream?: unknown
  destroy?(): void
  emit?(event: 'end'): unknown
}

/**
 * Reports to the client of pg that its connection has ended. The client rejects its unanswered queries and emits `error`.
 * A client that Kysely has taken from the pool has no listener for `error`, so `emit` throws. Here the error is caught.
 * If the end of the socket caused it, it would be an uncaught exception.
 */
function endQuietly(connection: RawConnection | undefined): void {
  try {
    connection?.emit?.('end')
  } catch {
    // the call has already been answered
  }
}

/**
 * pg calls `submit` of a query object with the connection that the query is to be written to. This query writes
 * nothing: an error that `submit` returns goes to `handleError`.
 */
function pgConnectionOf(connection: DriverConnection): RawConnection | undefined {
  let found: RawConnection | undefined
  const query = Object.assign(new String('select 1'), {
    submit(raw: RawConnection): Error {
      found = raw
      return new Error('this query is not sent')
    },
    handleError: () => undefined,
  })
  connection.executeQuery({ sql: query, parameters: [] }).catch(() => undefined)
  return found
}

/**
 * mysql2 accepts a callback in place of parameters, and calls it on the query, which knows its connection. The time limit
 * of one millisecond ensures that the callback is called even if the server is silent.
 */
function mysqlConnectionOf(connection: DriverConnection): Promise<RawConnection | undefined> {
  return new Promise((resolve) => {
    const parameters = function (this: { readonly _connection?: RawConnection } | undefined): void {
      resolve(this?._connection)
    }
    connection.executeQuery({ sql: { sql: 'do 0', timeout: 1 }, parameters }).catch(() => resolve(undefined))
  })
}

function insidesOf(kysely: unknown): Insides | undefined {
  if (typeof kysely !== 'object' || kysely === null) return undefined
  if (!('getExecutor' in kysely) || typeof kysely.getExecutor !== 'function') return undefined

  const insides: unknown = kysely.getExecutor()
  return isInsides(insides) ? insides : undefined
}

function isInsides(value: unknown): value is Insides {
  if (typeof value !== 'object' || value === null || !('adapter' in value)) return false
  return 'provideConnection' in value && typeof value.provideConnection === 'function'
}
