import { closedError, ForgeError, isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runAsync } from '../../../schema/sync-or-async.ts'
import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlContext } from '../context.ts'
import { command } from '../dialect.ts'
import type { Retry } from '../errors.ts'
import { BrokenReference, busy } from '../errors.ts'
import type { IdCodec } from '../ids.ts'
import { retryAfter } from '../retry.ts'
import type { MigratedTables } from '../schema/schema.ts'
import { migrateServer, Schema } from '../schema/schema.ts'
import type { Session, SqlRuntime, WriteCircumstances } from '../session.ts'
import { createSqlStores } from '../stores/stores.ts'
import type { CallLimits } from './call.ts'
import { Call, MAX_CALL_MS } from './call.ts'
import { Connections, commit, Spoilt, succeeds } from './connections.ts'
import { TransactionQueues } from './queues.ts'
import type { Runner, Send, Server, ServerConnection } from './server.ts'
import { ServerSession } from './server-session.ts'

/** Checks that a transaction is open: outside of one, MariaDB says so only when a savepoint is released. */
const CHECK = [command('savepoint forgelet_check'), command('release savepoint forgelet_check')]

const SAVEPOINT = command('savepoint forgelet')
const RELEASE = command('release savepoint forgelet')
const TAKE_BACK = command('rollback to savepoint forgelet')

/** How long `close()` waits for calls, in milliseconds. Ordinary calls have ended by then; the others are interrupted. */
const MAX_CLOSE_WAIT_MS = MAX_CALL_MS + 1000

/** The work in one transaction of our own. */
type Work<T, Tx> = (session: ServerSession, connection: ServerConnection<Tx>) => Promise<T>

/**
 * Runs the work of the stores on a server: in transactions of our own, with retries after a definite abort; or in the
 * host's transaction. Each call ends within its limit, whatever the server does.
 */
export class ServerRuntime<Tx extends object> implements SqlRuntime<Tx> {
  readonly #server: Server<Tx>
  readonly #schema: Schema
  readonly #lockingRead: string
  readonly #ids: IdCodec
  readonly #connections: Connections<Tx>
  readonly #queues = new TransactionQueues()
  readonly #running = new Map<Call, Promise<unknown>>()
  #isUsable = false
  #closed: Promise<void> | undefined

  constructor(server: Server<Tx>, context: SqlContext) {
    this.#server = server
    this.#schema = new Schema(context)
    this.#lockingRead = context.dialect.lockingRead
    this.#ids = context.ids
    this.#connections = new Connections(server)
  }

  read<T>(work: (session: Session) => MaybePromise<T>, transaction: Tx | undefined): Promise<T> {
    if (transaction === undefined) {
      return this.#repeated((call) => this.#onConnection(call, 'tables', (_, send) => work(new ServerSession(send))))
    }
    return this.#inHosts('read', transaction, async ({ send }) => {
      await this.#refuseUnusable(send)
      return work(new ServerSession(send))
    })
  }

  write<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    { transaction, signal }: WriteCircumstances<Tx>,
  ): Promise<T> {
    if (transaction !== undefined) return this.#writeInHosts(work, transaction, signal)
    const check = (): void => signal?.throwIfAborted()
    return this.#repeated(async (call) => {
      check()
      const change: Work<T, Tx> = (session, { identity, transaction: open }) =>
        this.#queues.run('write', identity, () => runAsync(work(session, open)))
      return this.#transact(call, change, check)
    })
  }

  /** Same as the storage's `checkTransaction`. */
  checkTransaction(transaction: Tx): Promise<void> {
    return this.#inHosts('read', transaction, async ({ send }) => {
      await this.#refuseUnlessOpen(send(CHECK))
      await this.#refuseUnusable(send)
    })
  }

  /** Runs work once on a connection of our own, whatever the state of the tables. */
  plainly<T>(work: (session: Session) => MaybePromise<T>, limits?: CallLimits): Promise<T> {
    return this.#during(
      (call) => this.#onConnection(call, 'server', (_, send) => work(new ServerSession(send))),
      limits,
    )
  }

  /** Runs work once in a transaction of our own, which it may also use as a host's. */
  inTransaction<T>(work: (session: Session, transaction: Tx) => Promise<T>, limits: CallLimits): Promise<T> {
    const inside: Work<T, Tx> = (session, { transaction }) => work(session, transaction)
    return this.#during((call) => this.#transact(call, inside), limits)
  }

  /** Migrates tables: those of the storage, or of a host beside them. */
  async migrate(tables: MigratedTables = this.#schema): Promise<void> {
    await this.plainly((session) => runAsync(migrateServer(session, tables)), {
      milliseconds: Number.POSITIVE_INFINITY,
    })
    this.#isUsable = false
  }

  /** Same as the storage's `schemaStatus`. */
  schemaStatus(): ReturnType<ForgeStorage['schemaStatus']> {
    return this.#repeated((call) =>
      this.#onConnection(call, 'server', async (_, send) => {
        const state = await runAsync(this.#schema.state(new ServerSession(send)))
        return { state, warnings: await this.#server.warnings(send) }
      }),
    )
  }

  /** Refuses new calls, and closes what the storage opened when the running calls have ended, or after six seconds. */
  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    const interrupt = (): void => {
      for (const call of this.#running.keys()) call.interrupt(closedError('the storage was closed'))
    }
    const timer = setTimeout(interrupt, MAX_CLOSE_WAIT_MS)
    await Promise.allSettled(this.#running.values())
    clearTimeout(timer)
    await this.#server.close()
  }

  /** Runs a call within its limit. */
  #during<T>(work: (call: Call) => Promise<T>, limits?: CallLimits): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closedError('the storage is closed'))
    const call = new Call(limits)
    const failed = (error: unknown): never => {
      // After a failure of the server, another may be in its place, or its tables may have changed.
      if (isForgeError(error, 'STORAGE_UNAVAILABLE')) this.#isUsable = false
      throw error
    }
    const answer = call
      .run(work)
      .catch(failed)
      .finally(() => this.#running.delete(call))
    this.#running.set(call, answer)
    return answer
  }

  /** Makes an attempt on our own connections, and repeats it after a definite abort. */
  #repeated<T>(attempt: (call: Call) => Promise<T>): Promise<T> {
    return this.#during((call) => attempt(call).catch((error) => retryAfter(error, () => attempt(call), call.retries)))
  }

  /** Runs work on a connection of our own, if the server can be used, and the tables, if it needs them. */
  #onConnection<T>(
    call: Call,
    needs: 'server' | 'tables',
    work: (connection: ServerConnection<Tx>, send: Send) => MaybePromise<T>,
  ): Promise<T> {
    return this.#connections.with(call, async (connection) => {
      const send = this.#sender(connection, call, 'call')
      if (needs === 'server') await this.#server.refuseUnfit(send, this.#ids)
      else await this.#refuseUnusable(send)
      return work(connection, send)
    })
  }

  /** Runs work between BEGIN and COMMIT. BEGIN is sent together with the first statements. */
  #transact<T>(call: Call, work: Work<T, Tx>, beforeCommit = (): void => undefined): Promise<T> {
    return this.#onConnection(call, 'tables', async (connection, send) => {
      const session = new ServerSession(send, {
        begin: await connection.begin(),
        lockingRead: this.#lockingRead,
        lengthen: this.#server.lengthen,
        lend: (hostCode) => connection.lend(() => this.#queues.lend(connection.identity, hostCode)),
      })
      let value: T
      try {
        value = await work(session, connection)
        beforeCommit()
      } catch (error) {
        if (call.isOver) throw error
        const isRolledBack = await succeeds(connection.rollBack())
        const translated = this.#server.translate(error, 'call')
        if (!isRolledBack) throw new Spoilt(translated)
        throw isForgeError(translated, 'STORAGE_BUSY') ? translated : error // it may come from the host's own code
      }
      const committing = call.commit(() => commit(connection, this.#server))
      const isCommitted = await committing.catch((error) => Promise.reject(new Spoilt(error)))
      if (!isCommitted) throw new TypeError(UNAWAITED)
      return value
    })
  }

  /** Changes something in the host's transaction, all or nothing. A definite abort is never repeated there. */
  async #writeInHosts<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    transaction: Tx,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    try {
      const check = (): void => signal?.throwIfAborted()
      return await this.#inHosts('write', transaction, async (hosts) => {
        check()
        if (!this.#isUsable) {
          await this.#refuseUnlessOpen(hosts.send(CHECK))
          await this.#refuseUnusable(hosts.send)
        }
        const change = (session: Session): Promise<T> => runAsync(work(session, transaction))
        const attempt = (): Promise<T> => this.#inSavepoint(hosts, change, check)
        // A row that was referred to has just been removed: the second attempt sees that.
        return attempt().catch((error) => (error instanceof BrokenReference ? attempt() : Promise.reject(error)))
      })
    } catch (error) {
      throw error instanceof BrokenReference ? busy('host-transaction', error) : error
    }
  }

  /** Runs a call in the host's transaction, in its turn. */
  async #inHosts<T>(kind: 'read' | 'write', transaction: Tx, work: (hosts: InHosts) => Promise<T>): Promise<T> {
    if (typeof transaction !== 'object' || transaction === null) {
      throw new TypeError("withTransaction needs the host's open transaction, as its driver has it")
    }
    const runner = this.#server.ofHost(transaction)
    const inTurn = (call: Call): Promise<T> =>
      this.#queues.run(kind, runner.identity, () =>
        work({ call, runner, send: this.#sender(runner, call, 'host-transaction') }),
      )
    return this.#during(inTurn, { expired: hostBusy })
  }

  /** What an ended call has done is rolled back at once, and so before a COMMIT that the host sends next. */
  async #inSavepoint<T>(
    { call, runner, send }: InHosts,
    work: (session: ServerSession) => Promise<T>,
    check: () => void,
  ): Promise<T> {
    const stop = call.onInterrupt(() => void succeeds(runner.run([TAKE_BACK, RELEASE])))
    try {
      await this.#refuseUnlessOpen(send([...CHECK, SAVEPOINT]))
      const session = new ServerSession(send, {
        lockingRead: this.#lockingRead,
        lend: (hostCode) => this.#queues.lend(runner.identity, hostCode),
      })
      const value = await work(session)
      check()
      await send([RELEASE])
      return value
    } catch (error) {
      await succeeds(send([TAKE_BACK, RELEASE]))
      throw error
    } finally {
      stop()
    }
  }

  async #refuseUnlessOpen(savepoint: Promise<unknown>): Promise<void> {
    try {
      await savepoint
    } catch (error) {
      const answer = isForgeError(error) ? error.cause : error
      if (error instanceof TypeError || !this.#server.saysNoTransaction(answer)) throw error
      throw new TypeError('the connection is not inside a transaction: begin one on it', { cause: error })
    }
  }

  /** Checks the server and the tables, the first time. */
  async #refuseUnusable(send: Send): Promise<void> {
    if (this.#isUsable) return
    await this.#server.refuseUnfit(send, this.#ids)
    await runAsync(this.#schema.refuseUnusable(new ServerSession(send)))
    this.#isUsable = true
  }

  /** A call that has ended sends nothing more. */
  #sender(runner: Runner, call: Call, again: Retry): Send {
    const refuse = (): void => {
      if (call.isOver) throw busy(again)
    }
    return (statements) => {
      if (call.isOver) return Promise.reject(busy(again))
      if (statements.some(({ mayTakeLong }) => mayTakeLong === true)) call.lengthen()
      return runner.run(statements, refuse).catch((error) => {
        throw this.#server.translate(error, again)
      })
    }
  }
}

/** A call in the host's transaction. */
interface InHosts {
  readonly call: Call
  readonly runner: Runner
  readonly send: Send
}

/** The message for a transaction that failed after the host's code had returned. */
const UNAWAITED = 'beforeCommit and prepare must wait for their statements: one failed after they had returned'

function hostBusy(): Error {
  const message = 'the database did not answer within five seconds: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' })
}

/** A storage on a database server, and what it runs on: a host can keep its tables beside those of the storage. */
export interface ServerStorage<Tx extends object> {
  readonly storage: ForgeStorage<Tx>
  readonly context: SqlContext
  readonly runtime: ServerRuntime<Tx>
}

/** Creates a storage on a database server. Nothing is opened before its first use. */
export function createServerStorage<Tx extends object>(server: Server<Tx>, context: SqlContext): ServerStorage<Tx> {
  const runtime = new ServerRuntime(server, context)
  const storage: ForgeStorage<Tx> = {
    ...createSqlStores(context, runtime),
    transactions: 'asynchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => runtime.migrate(),
    schemaStatus: () => runtime.schemaStatus(),
    close: () => runtime.close(),
  }
  return { storage, context, runtime }
}
