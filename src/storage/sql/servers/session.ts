import { isObject } from '../../../schema/arguments.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Retry } from '../errors.ts'
import { busy, unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { rowOf, rowsOf } from '../query.ts'
import type { AtOnceSession, Sending } from '../session.ts'
import type { Deadline } from './deadline.ts'
import { MAX_LONG_CALL_MS } from './deadline.ts'
import { equalsNothing, isRefused, translate } from './errors.ts'
import type { MergedStatements } from './merged-statements.ts'
import type { Runner, ServerRules } from './server.ts'
import { checkedAfter } from './transaction.ts'

const HOST_CODE = {
  savepoint: 'forgelet_lent',
  message: 'beforeCommit must leave its transaction open and without a failed statement',
}

const NOTHING: readonly Statement<unknown>[] = []

/** The rows of each statement. */
type Rows = readonly (readonly unknown[])[]

/** How a session works. The defaults are those of one that only reads. */
export interface SessionOptions {
  /** What is run again after a definite abort. */
  readonly retry: Retry
  /** Returns a statement with its limits. Default: the statement. */
  readonly limited?: ServerRules['limited']
  /** The end of a select, which then reads what is committed now, even if the transaction began to read before. */
  readonly lockingRead?: string
  /** What is sent ahead of statements that may take long. */
  readonly lengthen?: readonly Statement<unknown>[]
  /** What is sent ahead of statements that give way to the host. */
  readonly giveWay?: readonly Statement<unknown>[]
  /** Merges statements that are independent of one another. */
  readonly merged?: MergedStatements | undefined
  /** The limits of a change that is one statement, which run first in it. */
  readonly limitsAtOnce?: readonly Statement<unknown>[] | undefined
  /** If it has aborted, such a change is not sent. */
  readonly signal?: AbortSignal | undefined
  /** Runs the host's code, which uses the connection. */
  readonly runHostCode?: <T>(connection: object, hostCode: () => MaybePromise<T>) => Promise<T>
}

/**
 * The session of a call, on a connection of our own or of the host. It sends statements together, as far as their answers
 * are not needed. A call that has ended sends nothing more.
 */
export class ServerSession implements AtOnceSession {
  readonly #runner: Runner
  readonly #deadline: Deadline
  readonly #options: SessionOptions
  #begin: readonly Statement<unknown>[]
  /** Whether the server refused a change that was one statement. */
  isRefused = false

  /** @param begin - what is sent together with the first statements */
  constructor(
    runner: Runner,
    deadline: Deadline,
    options: SessionOptions,
    begin: readonly Statement<unknown>[] = NOTHING,
  ) {
    this.#runner = runner
    this.#deadline = deadline
    this.#options = options
    this.#begin = begin
  }

  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    return rowsOf(await this.#one(statement))
  }

  async first<Row>(statement: Statement<Row>): Promise<Row | undefined> {
    const [row] = await this.#one(statement)
    return rowOf(row)
  }

  /** Runs one statement, as most reads do, without the promises of a batch. */
  #one(statement: Statement<unknown>): Promise<readonly unknown[]> {
    if (this.#begin.length === 0 && statement.mayTakeLong !== true) return this.#run(statement)
    return this.batch([statement]).then(([rows = []]) => rows)
  }

  /** If the server refuses BEGIN, what is sent together with it runs outside a transaction: it must change nothing. */
  async batch(statements: readonly Statement<unknown>[], sending: Sending = {}): Promise<Rows> {
    if (statements.length === 0) return []
    const begin = this.#begin
    this.#begin = NOTHING
    const { giveWay = NOTHING } = this.#options
    const shorter = sending.givesWay === true ? giveWay : NOTHING
    const first = [...begin, ...this.#longer(statements), ...shorter]
    if (begin.length > 0 && statements.some(changesData)) await this.#send(first.splice(0))
    const { independentFrom = statements.length } = sending
    // Waits are shortened before the first statement that may wait, also inside one.
    const from = independentFrom === 0 ? Math.max(0, first.length - shorter.length) : first.length + independentFrom
    const rows = await this.#sendMerged([...first, ...statements], from)
    return first.length === 0 ? rows : rows.slice(first.length)
  }

  /** Sends statements, of which those behind `from` are independent. */
  async #sendMerged(statements: readonly Statement<unknown>[], from: number): Promise<Rows> {
    const { merged } = this.#options
    const rest = statements.slice(from)
    const one = rest.length < 2 ? undefined : merged?.of(rest)
    if (one === undefined) return await this.#send(statements)
    const rows = await this.#send([...statements.slice(0, from), one.statement])
    return [...rows.slice(0, from), ...one.rowsOfEach(rows[from] ?? [])]
  }

  async readAtOnce(statements: readonly Statement<unknown>[]): Promise<Rows | undefined> {
    const one = statements.length === 1 ? undefined : this.#options.merged?.of(statements)
    return one?.rowsOfEach(await this.#run(one.statement))
  }

  async commitAtOnce(statements: readonly Statement<unknown>[]): Promise<Rows | undefined> {
    const { merged, limitsAtOnce = NOTHING, signal } = this.#options
    const one = merged?.of([...limitsAtOnce, ...statements], true)
    if (one === undefined) return undefined
    signal?.throwIfAborted()
    const { sql, parameters } = one.statement
    const rows = await this.#deadline.commit(() => this.#runner.run(sql, parameters).catch(refusedOrUnknown))
    this.isRefused = rows === undefined
    return rows === undefined ? undefined : one.rowsOfEach(rowsIn(rows)).slice(limitsAtOnce.length)
  }

  runHostCode<T>(work: () => MaybePromise<T>): Promise<T> {
    const { runHostCode = async (_connection, hostCode) => hostCode() } = this.#options
    const inTurn = (): Promise<T> => runHostCode(this.#runner.identity, work)
    return checkedAfter((statement) => this.batch([statement]), inTurn, HOST_CODE)
  }

  #longer(statements: readonly Statement<unknown>[]): readonly Statement<unknown>[] {
    if (!statements.some(({ mayTakeLong }) => mayTakeLong === true)) return NOTHING
    this.#deadline.lengthen(MAX_LONG_CALL_MS)
    return this.#options.lengthen ?? NOTHING
  }

  async #send(statements: readonly Statement<unknown>[]): Promise<Rows> {
    const { pipelined } = this.#runner
    if (pipelined !== undefined && statements.length > 1) return await this.#sendTogether(statements, pipelined)
    const rows: (readonly unknown[])[] = []
    for (const statement of statements) rows.push(await this.#run(statement))
    return rows
  }

  /** After a statement that has failed in a transaction, the server refuses those that were sent together with it. */
  async #sendTogether(
    statements: readonly Statement<unknown>[],
    pipelined: NonNullable<Runner['pipelined']>,
  ): Promise<Rows> {
    const answers = await Promise.allSettled(pipelined(() => statements.map((statement) => this.#run(statement))))
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason
      return answer.value
    })
  }

  async #run(statement: Statement<unknown>): Promise<readonly unknown[]> {
    const { retry, limited, lockingRead = '' } = this.#options
    if (this.#deadline.isOver) throw busy(retry)
    const isLocking = lockingRead !== '' && statement.asWritten !== true && /^select\b/.test(statement.sql)
    const written = isLocking ? { ...statement, sql: `${statement.sql}${lockingRead}` } : statement
    let rows: unknown
    try {
      const { sql, parameters } = limited === undefined ? written : limited(written, this.#deadline.lockWaitMs)
      rows = await this.#runner.run(sql, parameters)
    } catch (error) {
      if (equalsNothing(error)) return []
      throw translate(error, retry)
    }
    return statement.returnsRows ? rowsIn(rows) : []
  }
}

/** Answers undefined for a statement that the server refused: nothing is written. */
function refusedOrUnknown(error: unknown): undefined {
  if (isRefused(error)) return undefined
  throw unavailable('the connection was lost while changing: the change may be committed', error, 'unknown')
}

/** An answer of another shape must not pass for one without rows. */
function rowsIn(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer) && (answer.length === 0 || (isObject(answer[0]) && !Array.isArray(answer[0]))))
    return answer
  throw new TypeError('the library or the driver must return the rows of a statement as a list of objects')
}

function changesData({ sql, takesLock }: Statement<unknown>): boolean {
  return takesLock !== true && !/^select\b/.test(sql)
}
