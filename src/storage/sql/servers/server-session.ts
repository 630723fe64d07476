import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Session } from '../session.ts'
import type { Rows, Send } from './server.ts'

const LENT = command('savepoint forgelet_lent')
const RETURNED = command('release savepoint forgelet_lent')

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
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
    return this.batch([statement]).then(([rows = []]) => rows as readonly Row[])
  }

  first<Row>(statement: Statement<Row>): Promise<Row | undefined> {
    return this.all(statement).then(([row]) => row)
  }

  batch(statements: readonly Statement<unknown>[]): Promise<Rows> {
    if (statements.length === 0) return Promise.resolve([])
    const locking = this.#lockingRead === '' ? statements : statements.map((statement) => this.#locking(statement))
    const first = [...this.#begin, ...this.#longer(statements)]
    return first.length === 0 ? this.#send(locking) : this.#sendBehind(first, locking)
  }

  /** If the server refuses BEGIN, what is sent together with it runs outside a transaction: it must change nothing. */
  async #sendBehind(first: readonly Statement<unknown>[], statements: readonly Statement<unknown>[]): Promise<Rows> {
    const isBegun = this.#begin.length === 0
    this.#begin = []
    if (!isBegun && statements.some(changesData)) {
      await this.#send(first)
      return this.#send(statements)
    }
    const rows = await this.#send([...first, ...statements])
    return rows.slice(first.length)
  }

  /** Returns what raises the limit of statements, ahead of the first that may take long. */
  #longer(statements: readonly Statement<unknown>[]): readonly Statement<unknown>[] {
    const lengthen = this.#lengthen
    if (lengthen === undefined || !statements.some(({ mayTakeLong }) => mayTakeLong === true)) return []
    this.#lengthen = undefined
    return [lengthen]
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

  #locking<Row>(statement: Statement<Row>): Statement<Row> {
    if (statement.asWritten === true || !/^select\b/.test(statement.sql)) return statement
    return { ...statement, sql: `${statement.sql}${this.#lockingRead}` }
  }
}

function changesData({ sql, takesLock }: Statement<unknown>): boolean {
  return takesLock !== true && !/^select\b/.test(sql)
}
