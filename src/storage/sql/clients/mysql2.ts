import type { SqlValue, Statement } from '../query.ts'
import type { DatabaseClient, StatementConnection } from '../server/client.ts'
import type { StatementRunner } from '../server/connection.ts'
import { openPool } from './mysql2-driver.ts'
import type { MysqlConnection, MysqlPool, MysqlPoolConnection, MysqlQuery, OwnPool } from './mysql2-pool.ts'
import { isConnection, isPool, speaksCallbacks } from './mysql2-pool.ts'
import { destroySocket, OwnSockets } from './sockets.ts'

/** The maximum number of statements that are sent as one. Each number of statements is another text to prepare. */
const MAX_STATEMENTS = 32

/** mysql2: a pool that is opened for a URL, or the host's pool. */
export class Mysql2DatabaseClient<C extends MysqlConnection> implements DatabaseClient<C> {
  readonly reportsRollback = false
  readonly #urlOrPool: string | MysqlPool<C>
  readonly #sockets = new OwnSockets()
  #own: OwnPool<C> | undefined

  constructor(urlOrPool: string | MysqlPool<C>) {
    this.#urlOrPool = urlOrPool
  }

  get isHosts(): boolean {
    return typeof this.#urlOrPool !== 'string'
  }

  async connect(queued: () => void): Promise<StatementConnection<C>> {
    const pool = this.#pool()
    const stop = onEnqueue(pool, queued)
    try {
      const connecting = pool.getConnection()
      stop()
      return new PooledConnection<C>(await connecting)
    } finally {
      stop()
    }
  }

  hostRunner(transaction: C): StatementRunner & { readonly identity: object } {
    if (speaksCallbacks(transaction)) {
      throw new TypeError(
        'the transaction uses callbacks: pass `connection.promise()`, or a connection of mysql2/promise',
      )
    }
    if (isPool(transaction) || !isConnection(transaction)) {
      throw new TypeError('the transaction must be a connection of mysql2/promise, with a transaction open')
    }
    return {
      identity: physical(transaction),
      maxTogether: MAX_STATEMENTS,
      run: (statements) => run(transaction, statements),
    }
  }

  beneath(transaction: C): object {
    return physical(transaction)
  }

  async refuseUnreadable(): Promise<void> {
    // Every query says how its columns are read.
  }

  translate(): undefined {
    return undefined
  }

  async close(): Promise<void> {
    try {
      await this.#own?.end()
    } catch {
      // The server is gone and has already closed the connections.
    }
    this.#sockets.destroyLater()
  }

  #pool(): MysqlPool<C> {
    if (typeof this.#urlOrPool !== 'string') return this.#urlOrPool

    this.#own ??= this.#open(this.#urlOrPool)
    return this.#own
  }

  #open(url: string): OwnPool<C> {
    const pool = openPool<C>(url)
    pool.on('connection', (connection) => this.#sockets.add(socketOf(connection)))
    return pool
  }
}

/** A connection out of the pool. */
class PooledConnection<C extends MysqlConnection> implements StatementConnection<C> {
  readonly transactions = 'by statements'
  readonly transaction: C
  readonly identity: object
  readonly status = undefined
  readonly maxTogether = MAX_STATEMENTS
  readonly #connection: MysqlPoolConnection
  #isReleased = false

  constructor(connection: C & MysqlPoolConnection) {
    this.transaction = connection
    this.identity = physical(connection)
    this.#connection = connection
    ignoreErrors(this.identity)
  }

  run(statements: readonly Statement<unknown>[], settings?: string): Promise<readonly (readonly unknown[])[]> {
    return run(this.#connection, statements, settings)
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  async commit(statements: readonly Statement<unknown>[]): Promise<'committed'> {
    await this.run(statements)
    return 'committed'
  }

  /** mysql2 itself would wait for the server to close the socket. */
  destroy(): void {
    this.release('spoilt')
    destroySocket(socketOf(this.identity), new Error('the server did not answer'))
  }

  release(state: 'sound' | 'spoilt'): void {
    if (this.#isReleased) return

    this.#isReleased = true
    if (state === 'spoilt') this.#connection.destroy()
    else this.#connection.release()
  }
}

async function run(
  connection: MysqlConnection,
  statements: readonly Statement<unknown>[],
  settings = '',
): Promise<readonly (readonly unknown[])[]> {
  const [first, ...more] = statements
  if (first !== undefined && more.length === 0) return [await runOne(connection, first)]

  return runCompound(connection, statements, settings)
}

/**
 * Runs a statement. One without parameters is sent as text: it is too rare to be kept prepared on every connection, and
 * a prepared statement runs in the database that was current when it was prepared.
 */
async function runOne(
  connection: MysqlConnection,
  { sql, parameters, returnsRows }: Statement<unknown>,
): Promise<readonly unknown[]> {
  const query = queryOf(sql, parameters)
  const answer = await (parameters.length === 0 ? connection.query(query) : connection.execute(query))
  return returnsRows ? rowsIn(firstOf(answer)) : []
}

/**
 * Runs statements in one round trip. If one fails, those behind it do not run. Those without parameters are sent as text,
 * because a server of 10.11 crashes on a read of its catalogue in a prepared compound statement: none that has
 * parameters may read `information_schema`.
 */
async function runCompound(
  connection: MysqlConnection,
  statements: readonly Statement<unknown>[],
  settings: string,
): Promise<readonly (readonly unknown[])[]> {
  const text = `${settings}begin not atomic ${statements.map(({ sql }) => sql).join('; ')}; end`
  const values = statements.flatMap(({ parameters }) => parameters)
  const query = queryOf(text, values)
  const results = rowsIn(firstOf(await (values.length === 0 ? connection.query(query) : connection.execute(query))))
  const answers = results.filter((result) => Array.isArray(result))
  if (answers.length !== statements.filter(({ returnsRows }) => returnsRows).length) {
    throw new Error('the server answered a compound statement with another number of results than its statements have')
  }

  const next = answers.values()
  return statements.map(({ returnsRows }) => (returnsRows ? rowsIn(next.next().value) : []))
}

/** Returns the rows of an answer of mysql2, or its list of answers to a compound statement. */
function firstOf(answer: unknown): unknown {
  return Array.isArray(answer) ? answer[0] : undefined
}

function rowsIn(answer: unknown): readonly unknown[] {
  return Array.isArray(answer) ? answer : []
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
function physical(connection: MysqlConnection): object {
  return 'connection' in connection && typeof connection.connection === 'object' && connection.connection !== null
    ? connection.connection
    : connection
}

function socketOf(connection: unknown): unknown {
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}

/** Two errors on one connection end the process: the pool listens for the first only. The work reports the loss. */
function ignoreErrors(connection: object): void {
  if (hasMethods(connection, ['on', 'listeners']) && !connection.listeners('error').includes(ignore)) {
    connection.on('error', ignore)
  }
}

/**
 * Calls a listener if a call waits in the pool because all of its connections are taken. Returns a function that removes
 * the listener.
 */
function onEnqueue(pool: object, listener: () => void): () => void {
  if (!hasMethods(pool, ['on', 'off'])) return ignore

  pool.on('enqueue', listener)
  return () => void pool.off('enqueue', listener)
}

/** What this module uses of an emitter of events. */
interface Emitter {
  on(event: string, listener: (error?: unknown) => void): unknown
  off(event: string, listener: () => void): unknown
  listeners(event: string): readonly unknown[]
}

function hasMethods(value: object, names: readonly (keyof Emitter)[]): value is Emitter {
  return names.every((name) => typeof Reflect.get(value, name) === 'function')
}

function ignore(): void {}
