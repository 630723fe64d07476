import type { SqlValue, Statement } from '../query.ts'
import { COMMIT, mariadbRules, ROLL_BACK } from './mariadb-rules.ts'
import type { MysqlConnection, MysqlPoolConnection, MysqlQuery } from './mysql-types.ts'
import { destroySocket, hear } from './pools.ts'
import type { Rows, ServerConnection } from './server.ts'

/** A connection out of the pool. */
export class PooledConnection<C> implements ServerConnection<C> {
  readonly identity: object
  readonly #connection: MysqlPoolConnection
  readonly #before: readonly Statement<unknown>[]
  #first: readonly Statement<unknown>[]
  #isReleased = false

  /** @param before - what is sent first. On a connection of the host's, it ends a transaction that was left open there */
  constructor(connection: MysqlPoolConnection, before: readonly Statement<unknown>[]) {
    this.identity = physical(connection)
    this.#connection = connection
    this.#before = before
    this.#first = before
    hear(this.identity) // two errors on one connection end the process: the pool listens for the first only
  }

  get transaction(): C {
    const connection: unknown = this.#connection
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's pool, as C says; or by mysql2 for a URL
    return connection as C
  }

  async run(statements: readonly Statement<unknown>[], refuse?: () => void): Promise<Rows> {
    const first = this.#first
    this.#first = []
    const textOf = (statement: Statement<unknown>): string => mariadbRules.textOf(statement, 'own')
    const rows = await run(this.#connection, [...first, ...statements], textOf, refuse)
    return rows.slice(first.length)
  }

  begin(): readonly Statement<unknown>[] {
    this.#first = []
    return [...this.#before, ...mariadbRules.begin]
  }

  async commit(): Promise<boolean> {
    await this.run([COMMIT])
    return true
  }

  rollBack(): Promise<unknown> {
    return this.run([ROLL_BACK])
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  /** mysql2 itself would wait for the server to close the socket. */
  release(state: 'sound' | 'spoilt'): void {
    if (this.#isReleased) return
    this.#isReleased = true
    if (state === 'sound') {
      this.#connection.release()
      return
    }
    this.#connection.destroy()
    destroySocket(socketOf(this.identity), new Error('the server did not answer'))
  }
}

/**
 * Runs one statement after the other. One without parameters is sent as text: it is too rare to be kept prepared on every
 * connection, and a prepared statement runs in the database that was current when it was prepared.
 */
export async function run(
  connection: MysqlConnection,
  statements: readonly Statement<unknown>[],
  textOf: (statement: Statement<unknown>) => string,
  refuse?: () => void,
): Promise<Rows> {
  const rows: (readonly unknown[])[] = []
  for (const statement of statements) {
    refuse?.()
    const query = queryOf(textOf(statement), statement.parameters)
    const answer = await (query.values.length === 0 ? connection.query(query) : connection.execute(query))
    rows.push(statement.returnsRows ? rowsIn(answer) : [])
  }
  return rows
}

/** The first element of an answer has the rows. */
function rowsIn(answer: unknown): readonly unknown[] {
  const rows: unknown = Array.isArray(answer) ? answer[0] : undefined
  return Array.isArray(rows) ? rows : []
}

/** Sets, for each query, the options that a host may have changed for all of them. */
function queryOf(sql: string, parameters: readonly SqlValue[]): MysqlQuery {
  return {
    sql,
    values: [...parameters],
    rowsAsArray: false,
    nestTables: false,
    namedPlaceholders: false,
    typeCast: asIs,
  }
}

/** A function, because mysql2 prefers a host's function to a plain `true`. */
function asIs(_field: unknown, next: () => unknown): unknown {
  return next()
}

/** Returns the connection itself: a pool creates a new wrapper each time it hands a connection out. */
export function physical(connection: MysqlConnection): object {
  return 'connection' in connection && typeof connection.connection === 'object' && connection.connection !== null
    ? connection.connection
    : connection
}

export function socketOf(connection: unknown): unknown {
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}
