import { isObject } from '../../../schema/arguments.ts'
import { closedError, ForgeError, isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runAsync } from '../../../schema/sync-or-async.ts'
import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlContext } from '../context.ts'
import { textQuery } from '../dialect.ts'
import { BrokenReference, busy } from '../errors.ts'
import type { CallLimits } from '../retry.ts'
import { asBusy, retryAfter } from '../retry.ts'
import { Schema } from '../schema/schema.ts'
import type { AtOnceSession, Session, WriteCircumstances } from '../session.ts'
import type { DatabaseRuntime } from '../stores/ground.ts'
import { Connections } from './connections.ts'
import { Deadline, Deadlines } from './deadline.ts'
import { translate } from './errors.ts'
import { LostCommits } from './lost-commits.ts'
import type { Connection, Runner, Server } from './server.ts'
import type { SessionOptions } from './session.ts'
import { ServerSession } from './session.ts'
import { CHECK_OPEN, commitAfter, inSavepoint } from './transaction.ts'
import { Turns } from './turns.ts'

/** How long changes take locks after one without locks was refused, in milliseconds. */
const LOCKING_MS = 1000

/** What BEGIN is sent with in a transaction of the host. */
const BEGUN = [textQuery('select 1 as begun')]

/**
 * Runs the work of the stores on a server: in transactions of our own, with retries after a definite abort; or in the
 * host's transaction. Each call ends within its limit, whatever the server does.
 */
export class ServerRuntime<Tx extends object> implements DatabaseRuntime<Tx> {
  readonly #server: Server
  readonly #schema: Schema
  readonly #context: SqlContext
  readonly #connections: Connections
  readonly #turns = new Turns()
  readonly #lostCommits: LostCommits
  readonly #reading: SessionOptions
  readonly #changing: SessionOptions
  readonly #changingInHosts: SessionOptions
  readonly #deadlines = new Deadlines((error) => {
    // After a failure of the server, another may be in its place, or its tables may have changed.
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) this.#isUsable = false
  })
  /** Until when changes take locks, because one without locks was refused. */
  #lockingUntil = 0
  #isUsable = false
  /** Whether the host's own transactions, which may be of another library, were found to be fit. */
  #areHostsFit = false
  #closed: Promise<void> | undefined

  constructor(server: Server, context: SqlContext) {
    this.#server = server
    this.#schema = new Schema(context)
    this.#context = context
    this.#connections = new Connections(server.client)
    this.#lostCommits = new LostCommits(server.client.size)
    const { limited, lengthen, giveWay, merged } = server
    const { lockingRead } = context.dialect
    const changing = { merged, lockingRead, runHostCode: this.#turns.runHostCode.bind(this.#turns) }
    this.#reading = { retry: 'call', limited }
    this.#changing = { retry: 'call', limited, lengthen, giveWay, ...changing }
    this.#changingInHosts = { retry: 'host-transaction', ...changing }
  }

  read<T>(work: (session: Session) => MaybePromise<T>, transaction: Tx | undefined, limits?: CallLimits): Promise<T> {
    if (transaction === undefined) {
      return this.#repeated((deadline) => this.#onConnection(deadline, 'tables', work), limits)
    }
    return this.#inHosts('read', transaction, async (session) => {
      await this.#refuseUnusableHosts(session)
      return work(session)
    })
  }

  write<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    { transaction, signal, limits }: WriteCircumstances<Tx>,
    atOnce?: (session: AtOnceSession) => SyncOrAsync<T | undefined>,
  ): Promise<T> {
    if (transaction !== undefined) return this.#writeInHosts(work, transaction, signal)
    let isFirst = true
    return this.#repeated(async (deadline) => {
      signal?.throwIfAborted()
      const written = isFirst && atOnce ? await this.#writeAtOnce(deadline, atOnce, signal) : undefined
      isFirst = false // a repeated attempt takes locks, and has the time of the call for them
      if (written !== undefined) return written
      signal?.throwIfAborted()
      return this.#transact(deadline, (session, open, { identity }) =>
        this.#turns.run('write', identity, () => changed(work(session, open), signal)),
      )
    }, limits)
  }

  /**
   * Changes something by one statement, where that is possible. Returns undefined if nothing was written. Where several processes
   * change the same thing, the server refuses many of these. Source: docs/decisions/0009-changes-at-once.md
   */
  async #writeAtOnce<T>(
    deadline: Deadline,
    work: (session: AtOnceSession) => SyncOrAsync<T | undefined>,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined> {
    const { merged, limitsAtOnce } = this.#server
    if (limitsAtOnce === undefined || performance.now() < this.#lockingUntil) return undefined
    return this.#changeOn(deadline, 'tables', async (connection) => {
      if (connection.status !== 'I') return undefined // the host may have left a transaction open on it
      const session = new ServerSession(connection, deadline, { retry: 'call', merged, limitsAtOnce, signal })
      const written = await runAsync(work(session))
      if (session.isRefused) this.#lockingUntil = performance.now() + LOCKING_MS
      return written
    })
  }

  /** Same as the storage's `checkTransaction`. */
  checkTransaction(transaction: Tx): Promise<void> {
    return this.#inHosts('read', transaction, async (session) => {
      await session.batch(CHECK_OPEN)
      await this.#refuseUnusableHosts(session)
    })
  }

  /** Runs work once on a connection of our own, whatever the state of the tables. */
  onConnection<T>(work: (session: Session) => MaybePromise<T>, limits?: CallLimits): Promise<T> {
    return this.#during(
      (deadline) => this.#onConnection(deadline, 'server', work),
      limits,
      (error) => Promise.reject(asBusy(error)),
    )
  }

  ofHost<T>(work: (session: Session) => MaybePromise<T>, transaction: Tx | undefined): Promise<T> {
    if (transaction !== undefined) {
      const written = this.#inHosts('read', transaction, async (session) => work(session))
      // Nothing is decided again, so what a key of the host refuses is the error of its statement.
      return written.catch((error) => Promise.reject(error instanceof BrokenReference ? error.cause : error))
    }
    return this.#repeated((deadline) => this.#onConnection(deadline, this.#isUsable ? 'tables' : 'server', work))
  }

  inTransaction<T>(work: (transaction: Tx) => MaybePromise<T>, limits: CallLimits): Promise<T> {
    const begun = async (session: Session, open: Tx): Promise<T> => {
      await session.batch(BEGUN)
      return work(open)
    }
    return this.#during((deadline) => this.#transact(deadline, begun, this.#isUsable ? 'tables' : 'server'), limits)
  }

  /** Migrates tables: those of the storage, or of a host beside them. */
  async migrate(tables: Schema = this.#schema): Promise<void> {
    await this.onConnection((session) => runAsync(tables.migrate(session)), {
      milliseconds: Number.POSITIVE_INFINITY,
    })
    this.#isUsable = false
  }

  /** Same as the storage's `schemaStatus`. */
  schemaStatus(): ReturnType<ForgeStorage['schemaStatus']> {
    return this.#repeated((deadline) =>
      this.#onConnection(deadline, 'server', async (session) => {
        const { state, warnings } = await runAsync(this.#schema.status(session))
        const readOnly = await runAsync(this.#schema.readOnly(session))
        return { state, warnings: [...warnings, ...readOnly, ...(await this.#server.warnings(session))] }
      }),
    )
  }

  /** Refuses new calls, and closes what the storage opened when the running calls have ended, or after six seconds. */
  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    await this.#deadlines.allAnswered(() => closedError('the storage was closed'))
    await this.#server.client.close?.()
  }

  /** Runs a call within its limit. */
  #during<T>(
    work: (deadline: Deadline) => Promise<T>,
    limits?: CallLimits,
    repeat?: (error: unknown, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closedError('the storage is closed'))
    const deadline = new Deadline(this.#deadlines, limits)
    return deadline.run(work, repeat && ((error) => repeat(error, deadline)))
  }

  /** Makes an attempt on our own connections, and repeats it after a definite abort. */
  #repeated<T>(attempt: (deadline: Deadline) => Promise<T>, limits?: CallLimits): Promise<T> {
    return this.#during(attempt, limits, async (error, deadline) =>
      retryAfter(error, () => attempt(deadline), deadline.retries),
    )
  }

  /** Runs work on a connection of our own, if the server can be used, and the tables, if it needs them. */
  #onConnection<T>(
    deadline: Deadline,
    needs: 'server' | 'tables',
    work: (session: ServerSession, connection: Connection) => MaybePromise<T>,
  ): Promise<T> {
    const { first } = this.#server
    return this.#connections.with(deadline, async (connection) => {
      const session = new ServerSession(connection, deadline, this.#reading)
      if (needs === 'server') await this.#server.refuseUnfit(session, this.#context.ids)
      else if (!this.#isUsable) await this.#refuseUnusable(session)
      if (first.length > 0) await session.batch(first)
      return await work(session, connection)
    })
  }

  /** Runs a change on a connection of our own, unless too many COMMITs are lost. */
  async #changeOn<T>(
    deadline: Deadline,
    needs: 'server' | 'tables',
    change: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    await this.#lostCommits.refuseMore(async (serverIds) => {
      const rows = await this.onConnection((session) => session.all(this.#server.stillOpen(serverIds)))
      return rows.map(({ id }) => id)
    })
    return this.#onConnection(deadline, needs, (_, connection) =>
      this.#lostCommits.counted(deadline, connection, () => change(connection)),
    )
  }

  /** Runs work between BEGIN and COMMIT. BEGIN is sent together with the first statements. */
  #transact<T>(
    deadline: Deadline,
    work: (session: ServerSession, transaction: Tx, connection: Connection) => Promise<T>,
    needs: 'server' | 'tables' = 'tables',
  ): Promise<T> {
    const { begin } = this.#server
    return this.#changeOn(deadline, needs, (connection) => {
      const session = new ServerSession(connection, deadline, this.#changing, begin(connection, deadline.lockWaitMs))
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: of the client or of the host's own function, as Tx says
      const inside = (): Promise<T> => work(session, connection.transaction as Tx, connection)
      return commitAfter(deadline, connection, this.#server, inside).catch((error) => {
        const translated = translate(error, 'call')
        throw isForgeError(translated, 'STORAGE_BUSY') ? translated : error // it may come from the host's own code
      })
    })
  }

  /** Changes something in the host's transaction, all or nothing. A definite abort is never repeated there. */
  async #writeInHosts<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    transaction: Tx,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    try {
      return await this.#inHosts('write', transaction, async (session, deadline, runner) => {
        signal?.throwIfAborted()
        const attempt = (): Promise<T> =>
          inSavepoint(deadline, runner, session, async () => {
            await this.#refuseUnusableHosts(session)
            const change = new ServerSession(runner, deadline, this.#changingInHosts)
            return changed(work(change, transaction), signal)
          })
        // A row that was referred to has just been removed: the second attempt sees that.
        return attempt().catch((error) => (error instanceof BrokenReference ? attempt() : Promise.reject(error)))
      })
    } catch (error) {
      throw error instanceof BrokenReference ? busy('host-transaction', error) : error
    }
  }

  /** Runs a call in the host's transaction, in its turn. */
  async #inHosts<T>(
    kind: 'read' | 'write',
    transaction: Tx,
    work: (session: ServerSession, deadline: Deadline, runner: Runner) => Promise<T>,
  ): Promise<T> {
    if (!isObject(transaction)) {
      throw new TypeError("withTransaction needs the host's open transaction, as its driver has it")
    }
    const runner = this.#server.ofHost(transaction)
    const inTurn = (deadline: Deadline): Promise<T> => {
      const session = new ServerSession(runner, deadline, { retry: 'host-transaction' })
      return this.#turns.run(kind, runner.identity, () => work(session, deadline, runner))
    }
    return this.#during(inTurn, { expired: hostBusy })
  }

  /** Checks the server and the tables, the first time. */
  async #refuseUnusable(session: ServerSession): Promise<void> {
    if (this.#isUsable) return
    await this.#server.refuseUnfit(session, this.#context.ids)
    await runAsync(this.#schema.refuseUnusable(session))
    this.#isUsable = true
  }

  /** Same in a transaction of the host. */
  async #refuseUnusableHosts(session: ServerSession): Promise<void> {
    if (!this.#areHostsFit && this.#isUsable) await this.#server.refuseUnfit(session, this.#context.ids)
    await this.#refuseUnusable(session)
    this.#areHostsFit = true
  }
}

/** Runs the work of a change, which is not committed if its signal has aborted. */
async function changed<T>(work: SyncOrAsync<T>, signal: AbortSignal | undefined): Promise<T> {
  const value = await runAsync(work)
  signal?.throwIfAborted()
  return value
}

function hostBusy(): Error {
  const message = 'the database did not answer within five seconds: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' })
}
