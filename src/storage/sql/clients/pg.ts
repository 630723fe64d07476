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

  hostRunner(transaction: C): StatementRunner & { readonly identity: object } {
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

  run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const messages = this.#messagesOf(statements)
    const [first] = messages
    if (messages.length === 1 && first !== undefined) return this.#runOne(first)
    return this.maxTogether > 1 ? this.#runTogether(messages) : this.#runInTurn(messages)
  }

  /** The statements without parameters at the beginning are one message: BEGIN is checked in its own. */
  #messagesOf(statements: readonly Statement<unknown>[]): readonly Message[] {
    const first = statements.findIndex(({ parameters }) => parameters.length > 0)
    const texts = first === -1 ? statements : statements.slice(0, first)
    const messages = texts.length === 0 ? [] : [{ query: textOf(texts), statements: texts }]
    for (const statement of statements.slice(texts.length)) {
      messages.push({ query: this.#queryOf(statement), statements: [statement] })
    }
    return messages
  }

  #queryOf({ sql: text, parameters }: Statement<unknown>): PgQuery {
    const name = parameters.length > 0 ? this.#names?.of(text) : undefined
    const values = [...parameters]
    return name === undefined ? { text, values, types: TYPES } : { name, text, values, types: TYPES }
  }

  #runOne(message: Message): Promise<readonly (readonly unknown[])[]> {
    return this.identity.query(message.query).then(
      (answer) => rowsOfEach(message, answer),
      (error) => this.#fail(message, error),
    )
  }

  async #runTogether(messages: readonly Message[]): Promise<readonly (readonly unknown[])[]> {
    const send = () => messages.map(({ query }) => this.identity.query(query))
    const answers = await inOrder(inOneWrite(socketOf(this.identity), send), (error, index) =>
      this.#fail(messages[index], error),
    )
    const rows: (readonly unknown[])[] = []
    for (const [index, message] of messages.entries()) rows.push(...rowsOfEach(message, answers[index]))
    return rows
  }

  async #runInTurn(messages: readonly Message[]): Promise<readonly (readonly unknown[])[]> {
    const rows: (readonly unknown[])[] = []
    for (const message of messages) rows.push(...(await this.#runOne(message)))
    return rows
  }

  /** If the server refused the name of a prepared statement, names are of no use. Behind a failed one it knows none. */
  #fail(message: Message | undefined, error: unknown): never {
    if (message?.query.name === undefined || !saysNameIsWrong(error)) throw error
    this.#names?.giveUp()
    throw busy('call', error)
  }
}

/** What is sent as one query, and the statements in it. */
interface Message {
  readonly query: PgQuery
  readonly statements: readonly Statement<unknown>[]
}

function textOf(statements: readonly Statement<unknown>[]): PgQuery {
  return { text: statements.map(({ sql }) => sql).join('; '), values: [], types: TYPES }
}

/** pg answers several statements with a list, other drivers with the answer to the last. */
function rowsOfEach({ statements }: Message, answer: unknown): readonly (readonly unknown[])[] {
  const answers: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  const missing = statements.length - answers.length
  return statements.map(({ returnsRows }, index) => (returnsRows ? rowsOf(answers[index - missing]) : []))
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
  async commit(statements: readonly Statement<unknown>[]): Promise<'committed' | 'rolled back'> {
    const answer: unknown = await this.identity.query(textOf(statements))
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
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's pool, as C says; or by pg if a URL was given
  return client as C
}

function ignore(): void {}
