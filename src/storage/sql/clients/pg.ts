import { busy } from '../errors.ts'
import type { Statement } from '../query.ts'
import type { DatabaseClient, StatementConnection } from '../server/client.ts'
import type { StatementRunner } from '../server/connection.ts'
import { saysNameIsWrong } from '../server/postgres-errors.ts'
import { openPool } from './pg-driver.ts'
import { ErrorListeners, isUnheard } from './pg-error-listeners.ts'
import { inOrder, isPipelining, withoutPipeline } from './pg-pipeline.ts'
import type { OwnPool, PgClient, PgPool, PgPoolClient, PgQuery, PgTypes } from './pg-pool.ts'
import { isPgClient } from './pg-pool.ts'
import { StatementNames } from './pg-statement-names.ts'
import { destroySocket, inOneWrite, OwnSockets } from './sockets.ts'

/** pg: a pool that is opened for a URL, or the host's pool. */
export class PgDatabaseClient<C extends PgClient> implements DatabaseClient<C> {
  readonly reportsRollback = true
  readonly #urlOrPool: string | PgPool
  readonly #names = new StatementNames()
  readonly #errorListeners = new ErrorListeners()
  readonly #stopListening = new Set<() => void>()
  readonly #sockets = new OwnSockets()
  #own: OwnPool | undefined

  constructor(urlOrPool: string | PgPool) {
    this.#urlOrPool = urlOrPool
  }

  get isHosts(): boolean {
    return typeof this.#urlOrPool !== 'string'
  }

  async connect(queued: () => void): Promise<StatementConnection<C>> {
    const pool = this.#pool()
    const waiting = waitingCount(pool)
    const connecting = pool.connect()
    if (waitingCount(pool) > waiting) queued()
    const client = await connecting
    try {
      return new PooledClient<C>(client, this.#names, this.isHosts ? this.#errorListeners.listen(client) : ignore)
    } catch (error) {
      client.release()
      throw error
    }
  }

  joined(transaction: C): StatementRunner & { readonly identity: object } {
    if (!isPgClient(transaction)) throw new TypeError('the transaction must be a client of pg, with a transaction open')

    const client = new ClientRunner(transaction)
    return {
      identity: transaction,
      maxTogether: client.maxTogether,
      // The host's client may have no listener for the loss of its server.
      run: async (statements) => {
        const stopListening = this.#errorListeners.listen(transaction)
        try {
          return await client.run(statements)
        } finally {
          stopListening()
        }
      },
    }
  }

  beneath(transaction: C): object {
    return transaction
  }

  async refuseUnreadable(): Promise<void> {
    // Every query says how its columns are read.
  }

  translate(): undefined {
    return undefined
  }

  async close(): Promise<void> {
    // The last connections end after this, and may still be lost: our own pool keeps its listeners.
    if (this.#own !== undefined) {
      await this.#own.end()
      this.#sockets.destroyLater()
      return
    }
    for (const stop of this.#stopListening) stop()
    this.#stopListening.clear()
  }

  /** Returns the pool, on which the storage listens. */
  #pool(): PgPool {
    if (typeof this.#urlOrPool === 'string') {
      this.#own ??= this.#open(this.#urlOrPool)
      return this.#own
    }

    const pool = this.#urlOrPool
    // Checked every time: another storage on the host's pool may have listened so far, and may be closed now.
    if (isUnheard(pool)) this.#stopListening.add(this.#errorListeners.listen(pool))
    this.#stopListening.add(this.#errorListeners.listenOnAcquire(pool))
    return pool
  }

  /** The listeners on our own pool and on its clients stay. */
  #open(url: string): OwnPool {
    const pool = openPool(url)
    this.#errorListeners.listen(pool)
    pool.on('connect', (client) => {
      this.#errorListeners.listen(client)
      this.#sockets.add(socketOf(client))
    })
    return pool
  }
}

/** Runs statements on a client of pg. */
class ClientRunner<C extends PgClient> implements StatementRunner {
  readonly identity: C
  readonly #names: StatementNames | undefined

  /**
   * @param names - the names of the statements that the connection keeps prepared. None on the host's client, because
   * the host may do anything with it
   * @throws TypeError for a client that is set to binary
   */
  constructor(client: C, names?: StatementNames) {
    refuseBinary(client)
    this.identity = client
    this.#names = names
  }

  get maxTogether(): number {
    return isPipelining(this.identity) ? Number.POSITIVE_INFINITY : 1
  }

  /** The statements without parameters at the beginning are one message: BEGIN is checked in its own. */
  async run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const [first] = statements
    try {
      const isOne = statements.length === 1 && first !== undefined && first.parameters.length > 0
      return await (isOne ? this.#runOne(first) : this.#runAll(statements))
    } catch (error) {
      if (!(error instanceof RefusedName)) throw error
      this.#names?.giveUp()
      throw busy('call', error.cause)
    }
  }

  async #runAll(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const first = statements.findIndex(({ parameters }) => parameters.length > 0)
    if (first === -1) return this.#runTexts(statements)

    const send = [
      ...(first === 0 ? [] : [() => this.#runTexts(statements.slice(0, first))]),
      ...statements.slice(first).map((statement) => () => this.#runOne(statement)),
    ]
    if (this.maxTogether > 1) {
      const sent = inOneWrite(socketOf(this.identity), () => send.map((one) => one()))
      return (await inOrder(sent)).flat()
    }

    const rows: (readonly unknown[])[] = []
    for (const one of send) rows.push(...(await one()))
    return rows
  }

  /** Runs statements without parameters in one message. pg answers several with a list, other drivers with the last. */
  async #runTexts(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const answer: unknown = await this.query(statements.map(({ sql }) => sql).join('; '))
    const answers: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
    const missing = statements.length - answers.length
    return statements.map(({ returnsRows }, index) => (returnsRows ? rowsOf(answers[index - missing]) : []))
  }

  #runOne({ sql: text, parameters, returnsRows }: Statement<unknown>): Promise<readonly [readonly unknown[]]> {
    const name = parameters.length > 0 ? this.#names?.of(text) : undefined
    const values = [...parameters]
    const query: PgQuery = name === undefined ? { text, values, types: TYPES } : { name, text, values, types: TYPES }
    return this.identity.query(query).then(
      ({ rows }) => [returnsRows ? rows : []],
      (error) => {
        throw name !== undefined && saysNameIsWrong(error) ? new RefusedName(error) : error
      },
    )
  }

  query(text: string): Promise<unknown> {
    return this.identity.query({ text, values: [], types: TYPES })
  }
}

/**
 * The server refused the name of a prepared statement. Only the first error of several statements counts: behind a
 * failed one, statements are not prepared, and their names are unknown later.
 */
class RefusedName extends Error {
  constructor(cause: unknown) {
    super('the server refused the name of a prepared statement', { cause })
  }
}

/** A client out of the pool. */
class PooledClient<C extends PgClient> extends ClientRunner<PgPoolClient> implements StatementConnection<C> {
  readonly transactions = 'by statements'
  readonly transaction: C
  readonly #stopListening: () => void
  #isReleased = false

  constructor(client: PgPoolClient, names: StatementNames, stopListening: () => void) {
    super(client, names)
    this.#stopListening = stopListening
    this.transaction = asHosts<C>(client)
  }

  /** Undefined in older versions of pg. */
  get status(): 'inside' | 'outside' | undefined {
    const client: PgClient = this.identity
    if (!('getTransactionStatus' in client) || typeof client.getTransactionStatus !== 'function') return undefined

    const status: unknown = client.getTransactionStatus()
    if (status === 'I') return 'outside'
    return status === 'T' || status === 'E' ? 'inside' : undefined
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    return withoutPipeline(this.identity, work)
  }

  /**
   * PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and without an error. That happens if a
   * statement failed that `beforeCommit` did not wait for.
   */
  async commit([statement]: readonly Statement<unknown>[]): Promise<'committed' | 'rolled back'> {
    const answer = await this.query(statement?.sql ?? 'commit')
    const isRolledBack = typeof answer === 'object' && answer !== null && Reflect.get(answer, 'command') === 'ROLLBACK'
    return isRolledBack ? 'rolled back' : 'committed'
  }

  /** A client that is pipelining would wait for its answers before it ends. */
  destroy(): void {
    this.release('spoilt')
    destroySocket(socketOf(this.identity))
  }

  release(state: 'sound' | 'spoilt'): void {
    if (this.#isReleased) return

    this.#isReleased = true
    this.#stopListening()
    this.identity.release(state === 'spoilt')
  }
}

/** The number of `double precision` in the catalogue of types. */
const DOUBLE_PRECISION = 701

/** How every query reads its columns, whatever parsers the host has set for pg: our columns are texts and doubles. */
const TYPES: PgTypes = { getTypeParser: (type) => (type === DOUBLE_PRECISION ? Number : String) }

function rowsOf(answer: unknown): readonly unknown[] {
  if (typeof answer !== 'object' || answer === null || !('rows' in answer)) return []
  return Array.isArray(answer.rows) ? answer.rows : []
}

/** In binary mode pg returns values as texts with bytes missing. */
function refuseBinary(client: PgClient): void {
  if (!('binary' in client) || client.binary !== true) return
  throw new TypeError('a client of pg with the option binary cannot be used, because pg returns wrong numbers with it')
}

/** Returns how many calls wait in a pool because all of its clients are taken. */
function waitingCount(pool: PgPool): number {
  return 'waitingCount' in pool && typeof pool.waitingCount === 'number' ? pool.waitingCount : 0
}

/** Returns the socket of a client, if its driver has one. */
function socketOf(client: unknown): unknown {
  if (typeof client !== 'object' || client === null || !('connection' in client)) return undefined
  const { connection } = client
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}

function asHosts<C extends PgClient>(client: PgClient): C {
  return client as C // made by the host's pool, as C says; or by pg if a URL was given
}

function ignore(): void {}
