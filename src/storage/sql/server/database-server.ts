import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after, isPromise } from '../../../schema/sync-or-async.ts'
import type { Retry } from '../errors.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from './call-deadline.ts'
import { NO_DEADLINE } from './call-deadline.ts'
import type {
  ClientConnection,
  DatabaseClient,
  IsolationLevel,
  LibraryConnection,
  LibraryTransaction,
} from './client.ts'
import type { RunOptions, ServerConnection, ServerTransaction, StatementRunner, Translate } from './connection.ts'
import { LimitedConnection } from './connection.ts'
import { ConnectionRequests } from './connection-requests.ts'
import { HostWarnings, LEFT_OPEN } from './host-warnings.ts'
import type { DatabaseRules, OwnConnection, Purpose, StatementUse } from './rules.ts'
import { checkingMark, guarded, lendGuarded, RELEASE_MARK, releaseAfterHost, UNAWAITED } from './savepoint.ts'

/** What a server is used with. */
export interface DatabaseServerParts<Tx extends object> {
  readonly client: DatabaseClient<Tx>
  readonly rules: DatabaseRules
}

/**
 * A database, by the rules of its kind and through the library of its client. No connection is held after the work. The
 * server does not retry: the runtime does, on `STORAGE_BUSY` alone.
 *
 * Each call has a deadline. Everything that is asked of the database is asked through `deadline.ask`, and the COMMIT
 * after `deadline.startCommit`. A connection of our own is destroyed if the call is interrupted.
 */
export class DatabaseServer<Tx extends object> {
  readonly #client: DatabaseClient<Tx>
  readonly #rules: DatabaseRules
  readonly #requests = new ConnectionRequests()
  readonly #hostWarnings = new HostWarnings()
  /** The connections whose servers have been checked. */
  readonly #known = new WeakSet<object>()
  readonly #translations: Readonly<Record<Retry, Translate>> = {
    call: (error) => this.#translate(error, 'call'),
    'host-transaction': (error) => this.#translate(error, 'host-transaction'),
  }

  constructor({ client, rules }: DatabaseServerParts<Tx>) {
    this.#client = client
    this.#rules = rules
  }

  /**
   * Runs work on one of our own connections. Each statement is its own transaction. A migration runs here, through
   * `dialect.schemaChanges`: it holds a session lock meanwhile, and begins and ends transactions by statements.
   */
  plainly<T>(work: (connection: ServerConnection) => MaybePromise<T>, deadline: Deadline): Promise<T> {
    return this.#onConnection(deadline, (client) => this.#checked(client, deadline, work))
  }

  /** Runs reads on one of our own connections. All of them see the same snapshot. */
  inSnapshot<T>(work: (connection: ServerConnection) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#transact('snapshot', work, deadline)
  }

  /**
   * Runs work in a transaction of our own, and returns after its COMMIT. The transaction is READ COMMITTED and its
   * commit is durable. If its locks together take longer than the deadline allows, it is `STORAGE_BUSY`. Work that
   * throws is rolled back, and its error is rethrown; if the error is the driver's own for a definite abort, which a
   * `beforeCommit` may throw, as `STORAGE_BUSY`. A connection that is lost while committing is `STORAGE_UNAVAILABLE`
   * with outcome `unknown`.
   */
  inTransaction<T>(work: (transaction: ServerTransaction<Tx>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#transact('changes', work, deadline)
  }

  /**
   * Wraps the host's transaction. `STORAGE_BUSY` on it means that the host must run its transaction again. @throws
   * TypeError if it cannot be one
   */
  hostTransaction(transaction: Tx, deadline: Deadline): ServerTransaction<Tx> {
    const runner = this.#client.hostRunner(transaction)
    const connection = this.#limited(runner, 'host-transaction', {
      deadline,
      prepare: this.#rules.prepare({ purpose: 'host-transaction', deadline }),
      failed: (error) => this.#rules.failedInHostTransaction(runner, error),
    })
    return inside(transaction, connection, (work) => work())
  }

  /** Wraps the connection of a change in a host's transaction, so that nothing runs outside that transaction. */
  guarded(hostTransaction: ServerTransaction<Tx>): ServerTransaction<Tx> {
    const { maxTogether } = this.#client.hostRunner(hostTransaction.transaction)
    return this.#rules.losesTransactions && maxTogether > 1 ? guarded(hostTransaction) : hostTransaction
  }

  /**
   * Wraps the host's transaction to roll back what an ended call did there. Its failures mean nothing: the host may have
   * ended its transaction meanwhile.
   */
  ended(transaction: Tx): ServerConnection {
    return this.#limited(this.#client.hostRunner(transaction), 'host-transaction', { deadline: NO_DEADLINE })
  }

  /** Returns the connection beneath a transaction: work on one connection takes turns. */
  beneath(transaction: Tx): MaybePromise<object> {
    return this.#client.beneath(transaction)
  }

  /**
   * Called before every change in a host's transaction. Checks that it is open, on our database, and sees our tables.
   * @throws TypeError if it does not, with what to do; ForgeError `STORAGE_BUSY` if it has failed and must be run again
   */
  async refuseUnlessOpen(hostTransaction: ServerTransaction<Tx>, deadline: Deadline): Promise<void> {
    await this.#client.refuseUnreadable(hostTransaction)
    await this.#rules.refuseUnlessOpen({
      connection: hostTransaction,
      runner: this.#client.hostRunner(hostTransaction.transaction),
      beside: (work) => this.#beside(work, deadline),
    })
  }

  /** Returns warnings about settings of the server that endanger committed data and that the library cannot change. */
  warnings(deadline: Deadline): Promise<readonly string[]> {
    return this.plainly((connection) => this.#rules.warnings(connection), deadline)
  }

  /** Registers a listener for mistakes of the host that fail no call, such as a transaction it left open. */
  onWarning(listener: (message: string) => void): void {
    this.#hostWarnings.listen(listener)
  }

  /** Closes what the storage opened. Called once, when no work is left. */
  close(): Promise<void> {
    return this.#client.close()
  }

  /** Runs work on a connection out of the pool. It is spoilt by the loss of the server, and by what `spoil` reports. */
  async #onConnection<T>(
    deadline: Deadline,
    work: (client: ClientConnection<Tx>, spoil: () => void) => MaybePromise<T>,
    waiting: Pick<Deadline, 'expireWith'> = deadline,
  ): Promise<T> {
    const request = this.#requests.create(deadline)
    const unanswered = (): Error => request.unanswered()
    waiting.expireWith(unanswered)
    const connect = (queued: () => void): Promise<ClientConnection<Tx>> => this.#client.connect(queued)
    let client: ClientConnection<Tx>
    try {
      client = await deadline.ask(() => request.make(connect, (error) => this.#rules.saysFull(error)))
    } catch (failure) {
      const error = this.#translateConnect(failure)
      // A pool that gives up first, after a limit of its own, does not report what the server has done.
      throw isForgeError(error, 'STORAGE_BUSY') && request.isQueued ? unanswered() : error
    }
    waiting.expireWith()
    if (deadline.isOver) {
      await client.release('sound') // it has arrived after the deadline
      request.released('sound')
      throw unanswered()
    }

    let state: 'sound' | 'spoilt' = 'sound'
    const spoil = (): void => {
      state = 'spoilt'
    }
    const stop = deadline.onInterrupt(() => {
      client.destroy()
      request.released('spoilt')
    })
    try {
      if (!this.#isKnown(client)) await this.#refuseUnusable(client, deadline)
      return await work(client, spoil)
    } catch (error) {
      if (isForgeError(error, 'STORAGE_UNAVAILABLE')) spoil()
      throw error
    } finally {
      stop()
      const released = client.release(state)
      if (isPromise(released)) await released
      request.released(state)
    }
  }

  /** Returns the error to throw if a library provides no connection, or begins no transaction. */
  #translateConnect(error: unknown): unknown {
    if (isForgeError(error) || error instanceof TypeError) return error
    const translated = this.#client.translate(error) ?? this.#rules.translateConnect(error)
    if (isForgeError(translated) || translated instanceof TypeError) return translated
    return unavailable('the pool provides no connection to the database', translated)
  }

  #isKnown({ identity }: ClientConnection<Tx>): boolean {
    return identity !== undefined && this.#known.has(identity)
  }

  async #refuseUnusable(client: ClientConnection<Tx>, deadline: Deadline): Promise<void> {
    const connection = this.#limited(client, 'call', { deadline }) // without settings, which need the right database
    await this.#client.refuseUnreadable(connection)
    await this.#rules.refuseServer(connection)
    if (client.identity !== undefined) this.#known.add(client.identity)
  }

  #checked<T>(
    client: ClientConnection<Tx>,
    deadline: Deadline,
    work: (connection: ServerConnection) => MaybePromise<T>,
  ): MaybePromise<T> {
    const use: StatementUse = { purpose: 'reads', deadline }
    const connection = this.#own(client, use)
    return after(this.#rules.check(this.#asOwn(client, connection)), ({ leftOpen, commitEach }) => {
      this.#reportLeftOpen(leftOpen)
      return work(commitEach === undefined ? connection : this.#own(client, use, commitEach))
    })
  }

  /** Runs work on a connection of our own for a call in a host's transaction: its errors are errors of that call. */
  async #beside<T>(work: (own: ServerConnection) => Promise<T>, deadline: Deadline): Promise<T> {
    try {
      return await this.#onConnection(deadline, (client) => this.#checked(client, deadline, work), NO_DEADLINE)
    } catch (error) {
      throw isForgeError(error, 'STORAGE_BUSY') ? busy('host-transaction', error) : error
    }
  }

  /** Runs work between BEGIN and COMMIT. Work that throws is rolled back, unless its connection is destroyed anyway. */
  #transact<T>(
    purpose: Purpose,
    work: (transaction: ServerTransaction<Tx>) => Promise<T>,
    deadline: Deadline,
  ): Promise<T> {
    return this.#onConnection(deadline, async (client, spoil) => {
      const open = await this.#open(client, purpose, deadline)
      let isMarked = false
      let value: T
      try {
        const connection = await open.start()
        const lend: ServerTransaction<Tx>['lend'] = (hostCode) => {
          const mark = isMarked ? 'check' : this.#client.reportsRollback ? 'none' : 'set'
          isMarked = mark !== 'none'
          this.#rules.lent(client.identity)
          return lendGuarded(connection, () => client.lend(hostCode), mark)
        }
        const checking = this.#rules.losesTransactions ? checkingMark(connection, () => isMarked) : connection
        value = await work(inside(open.transaction, checking, lend))
        if (isMarked) await open.confirm(connection)
        deadline.startCommit()
      } catch (error) {
        if (deadline.isOver) throw error
        const isRolledBack = await succeeds(() => deadline.ask(() => open.rollBack()))
        if (!isRolledBack) spoil()
        throw this.#rules.translateWork(error, isRolledBack ? 'done' : 'failed')
      }
      await this.#commit(() => deadline.ask(() => open.commit(isMarked)), spoil)
      return value
    })
  }

  async #commit(commit: () => Promise<'committed' | 'rolled back'>, spoil: () => void): Promise<void> {
    try {
      if ((await commit()) === 'committed') return
    } catch (error) {
      spoil()
      throw this.#client.translate(error) ?? this.#rules.translateCommit(error)
    }
    throw new TypeError(UNAWAITED)
  }

  #open(client: ClientConnection<Tx>, purpose: Purpose, deadline: Deadline): MaybePromise<OpenTransaction<Tx>> {
    const use: StatementUse = { purpose: purpose === 'changes' ? 'changes' : 'reads', deadline }
    if (client.transactions === 'by the library') return this.#openByLibrary(client, purpose, use)

    const { rollBack, commit } = this.#rules
    return {
      transaction: client.transaction,
      start: () => {
        const leftOpen = (): void => this.#reportLeftOpen(true)
        return this.#rules.begin(this.#asOwn(client, this.#own(client, use)), { purpose, deadline, leftOpen })
      },
      confirm: async () => undefined,
      commit: (isMarked) => client.commit(isMarked ? [RELEASE_MARK, commit] : [commit]),
      rollBack: async () => void (await client.run([rollBack])),
    }
  }

  async #openByLibrary(
    client: LibraryConnection<Tx>,
    purpose: Purpose,
    use: StatementUse,
  ): Promise<OpenTransaction<Tx>> {
    const { deadline } = use
    await this.#checked(client, deadline, async () => undefined)
    const begun = await this.#begun(client, this.#rules.levels[purpose], deadline)
    const connection = this.#own(begun, use)
    return {
      transaction: begun.transaction,
      start: async () => (purpose === 'changes' ? this.#rules.setUp(connection, deadline) : connection),
      confirm: (on) => releaseAfterHost(on, RELEASE_MARK),
      commit: async () => {
        await begun.commit()
        return 'committed'
      },
      rollBack: () => begun.rollBack(),
    }
  }

  async #begun(
    client: LibraryConnection<Tx>,
    level: IsolationLevel | undefined,
    deadline: Deadline,
  ): Promise<LibraryTransaction<Tx>> {
    try {
      return await deadline.ask(() => client.begin(level))
    } catch (error) {
      throw this.#translateConnect(error)
    }
  }

  #asOwn({ identity, status, maxTogether }: ClientConnection<Tx>, connection: ServerConnection): OwnConnection {
    return { connection, identity, status, sendsTogether: maxTogether > 1, isHosts: this.#client.isHosts }
  }

  #own(runner: StatementRunner, use: StatementUse, commitEach?: Statement<unknown>): ServerConnection {
    const [prepare, frame] = [this.#rules.prepare(use), this.#rules.frame(use)]
    return this.#limited(runner, 'call', { deadline: use.deadline, prepare, frame, commitEach })
  }

  #limited(runner: StatementRunner, retry: Retry, options: RunOptions): ServerConnection {
    return new LimitedConnection(runner, options, this.#translations[retry])
  }

  #translate(error: unknown, retry: Retry): unknown {
    if (isForgeError(error) || error instanceof BrokenReference) return error
    return this.#client.translate(error) ?? this.#rules.translate(error, retry)
  }

  #reportLeftOpen(leftOpen: boolean): void {
    if (leftOpen) this.#hostWarnings.report(LEFT_OPEN)
  }
}

/** A transaction of our own, from its BEGIN to its end. */
interface OpenTransaction<Tx> {
  readonly transaction: Tx
  /** Returns what runs its statements. */
  start(): MaybePromise<ServerConnection>
  /** Checks that the mark is still there, if the COMMIT cannot do that. */
  confirm(connection: ServerConnection): Promise<void>
  commit(isMarked: boolean): Promise<'committed' | 'rolled back'>
  rollBack(): Promise<void>
}

function inside<Tx>(
  transaction: Tx,
  connection: ServerConnection,
  lend: ServerTransaction<Tx>['lend'],
): ServerTransaction<Tx> {
  return {
    transaction,
    all: (statement) => connection.all(statement),
    run: (statements) => connection.run(statements),
    batch: (statements, opening) => connection.batch(statements, opening),
    lend,
  }
}

async function succeeds(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch {
    return false
  }
}
