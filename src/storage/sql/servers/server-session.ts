import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Session } from '../session.ts'
import type { Rows, Send } from './server.ts'

const LENT = command('savepoint forgelet_lent')
const RETURNED = command('release savepoint forgelet_lent')

/** A statement whose rows nothing waits for. */
interface Deferred {
  readonly statement: Statement<unknown>
  readonly check?: ((rows: readonly unknown[]) => void) | undefined
}

/** How a session in a transaction works. One outside of a transaction needs none of this. */
interface SessionOptions {
  /** What is sent together with the first statements. */
  readonly begin?: readonly Statement<unknown>[]
  /** The end of a select, which then reads what is committed now, even if the transaction began to read before. */
  readonly lockingRead?: string
  /** What is sent ahead of the first statement that may take long. */
  readonly lengthen?: Statement<unknown> | undefined
  /** Runs the host's code, which uses the connection. */
  readonly lend?: <T>(hostCode: () => MaybePromise<T>) => Promise<T>
}

/** A session that sends statements together, as far as their answers are not needed. */
export class ServerSession implements Session {
  readonly #send: Send
  readonly #lockingRead: string
  readonly #lend: NonNullable<SessionOptions['lend']>
  #begin: readonly Statement<unknown>[]
  #lengthen: Statement<unknown> | undefined
  #deferred: Deferred[] = []

  constructor(
    send: Send,
    { begin = [], lockingRead = '', lengthen, lend = async (work) => work() }: SessionOptions = {},
  ) {
    this.#send = send
    this.#lockingRead = lockingRead
    this.#lengthen = lengthen
    this.#lend = lend
    this.#begin = begin
  }

  all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    const answered = this.#isIdle ? this.#send([statement]) : this.batch([statement])
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
    return answered.then(([rows = []]) => rows as readonly Row[])
  }

  first<Row>(statement: Statement<Row>): Promise<Row | undefined> {
    return this.all(statement).then(([row]) => row)
  }

  /** Whether statements are sent as they are. */
  get #isIdle(): boolean {
    return (
      this.#lockingRead === '' &&
      this.#deferred.length === 0 &&
      this.#begin.length === 0 &&
      this.#lengthen === undefined
    )
  }

  async batch(statements: readonly Statement<unknown>[]): Promise<Rows> {
    for (const statement of statements) this.#add({ statement: this.#locking(statement) })
    const sent = this.#deferred
    if (sent.length === 0) return []
    this.#deferred = []
    const rows = await this.#sendBehindBegin(sent.map(({ statement }) => statement))
    for (const [index, { check }] of sent.entries()) check?.(rows[index] ?? [])
    return statements.length === 0 ? [] : rows.slice(-statements.length)
  }

  /** If the server refuses BEGIN, what is sent together with it runs outside a transaction: it must change nothing. */
  async #sendBehindBegin(statements: readonly Statement<unknown>[]): Promise<Rows> {
    const begin = this.#begin
    if (begin.length === 0) return this.#send(statements)
    this.#begin = []
    if (statements.some(changesData)) {
      await this.#send(begin)
      return this.#send(statements)
    }
    const rows = await this.#send([...begin, ...statements])
    return rows.slice(begin.length)
  }

  async defer<Row>(statement: Statement<Row>, check?: (rows: readonly Row[]) => void): Promise<void> {
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the rows are those of the statement
    this.#add({ statement: this.#locking(statement), check: check as Deferred['check'] })
  }

  /** Sends what was kept back. */
  async flush(): Promise<void> {
    await this.batch([])
  }

  /** The savepoint shows whether the host's code has left the transaction open and sound. */
  async lend<T>(work: () => MaybePromise<T>): Promise<T> {
    await this.batch([LENT])
    const value = await this.#lend(work)
    try {
      await this.batch([RETURNED])
    } catch (error) {
      if (isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error
      const message = 'beforeCommit must leave its transaction open and without a failed statement'
      throw new TypeError(message, { cause: error })
    }
    return value
  }

  #add(deferred: Deferred): void {
    if (this.#lengthen !== undefined && deferred.statement.mayTakeLong === true) {
      this.#deferred.push({ statement: this.#lengthen })
      this.#lengthen = undefined
    }
    this.#deferred.push(deferred)
  }

  #locking<Row>(statement: Statement<Row>): Statement<Row> {
    if (this.#lockingRead === '' || statement.asWritten === true || !/^select\b/.test(statement.sql)) return statement
    return { ...statement, sql: `${statement.sql}${this.#lockingRead}` }
  }
}

function changesData({ sql, takesLock }: Statement<unknown>): boolean {
  return takesLock !== true && !/^select\b/.test(sql)
}
