import { closedError, isForgeError } from '../../../schema/errors.ts'
import { runAsync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import { retry } from '../retry.ts'
import type { MigratedTables, Schema } from '../schema/schema.ts'
import { migrateServer } from '../schema/schema.ts'
import type { Queryable } from '../session.ts'
import type { CallLimits, Deadline } from './call-deadline.ts'
import { CallDeadline, MAX_CALL_MS } from './call-deadline.ts'
import type { ServerTransaction } from './connection.ts'
import type { DatabaseServer } from './database-server.ts'

/**
 * How long `close()` waits for calls, in milliseconds. Ordinary calls have ended by then; the others are interrupted.
 */
const MAX_CLOSE_WAIT_MS = MAX_CALL_MS + 1000

/** Migrates tables on a server. */
export async function migrateTables<Tx extends object>(
  server: DatabaseServer<Tx>,
  tables: MigratedTables,
  deadline: Deadline,
): Promise<void> {
  if (tables.context.dialect.migration.begin(tables.context).length > 0) {
    await server.plainly((connection) => runAsync(migrateServer(connection, tables)), deadline)
    return
  }
  const needed = await server.plainly((connection) => runAsync(tables.needsMigration(connection)), deadline)
  if (needed) await server.inTransaction((connection) => runAsync(tables.complete(connection)), deadline)
}

/** The check of the tables before their first use. */
interface FirstLook {
  readonly deadline: CallDeadline
  readonly done: Promise<void>
}

/**
 * One database on a server, with our tables. The tables are checked before their first use; the database is closed when
 * the last work has ended.
 */
export class ServerDatabase<Tx extends object> {
  readonly #server: DatabaseServer<Tx>
  readonly #schema: Schema
  /** In no order. A Set would outgrow one table after the other, and those that are old keep ended calls from being collected. */
  readonly #running: CallDeadline[] = []
  readonly #known = new WeakSet<Tx>()
  #usable: FirstLook | undefined
  #isUsable = false
  #closed: Promise<void> | undefined
  #onIdle = (): void => undefined

  constructor(server: DatabaseServer<Tx>, schema: Schema) {
    this.#server = server
    this.#schema = schema
  }

  /**
   * Runs a call within its deadline. `close()` waits for it. @throws ForgeError `STORAGE_UNAVAILABLE` once it is
   * closing
   */
  during<T>(work: (deadline: CallDeadline) => Promise<T>, limits: CallLimits = {}): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closedError('the storage is closed'))

    const deadline = new CallDeadline(limits)
    deadline.place = this.#running.push(deadline) - 1
    return deadline.run(work, this.#answered)
  }

  /** Runs work on the tables, which are checked the first time. @throws what `refuseUnusable` throws */
  whenUsable<D extends Deadline, T>(caller: D, work: (caller: D) => Promise<T>): Promise<T> {
    return this.#isUsable ? work(caller) : this.refuseUnusable(caller).then(() => work(caller))
  }

  /**
   * Checks the tables, the first time. @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`; TypeError for other id
   * columns
   */
  async refuseUnusable(caller: Deadline): Promise<void> {
    if (this.#isUsable) return

    const isJoined = this.#usable !== undefined
    this.#usable ??= this.#lookOnce()
    const looking = this.#usable
    caller.expireWith(() => looking.deadline.expiry())
    try {
      await looking.done
      if (this.#usable === looking) this.#isUsable = true
    } catch (error) {
      if (this.#usable === looking) this.#lookAgain()
      // A check that began long before this call ran out of its own time.
      if (isJoined && looking.deadline.isOver && !caller.isOver) return this.refuseUnusable(caller)
      throw error
    }
  }

  /**
   * Same as `refuseUnusable`, on a connection of the host: a check that has not ended may be waiting for this very
   * connection.
   */
  async refuseUnusableOn(connection: ServerTransaction<Tx>): Promise<void> {
    if (this.#isUsable || this.#known.has(connection.transaction)) return

    await this.#look(connection)
    this.#known.add(connection.transaction)
  }

  /** Migrates the tables. Nothing is written before the version check has passed. */
  async migrate(deadline: CallDeadline): Promise<void> {
    await migrateTables(this.#server, this.#schema, deadline)
    this.#lookAgain()
  }

  /** Returns the state of the tables. Writes nothing. */
  async status(deadline: CallDeadline): Promise<SchemaStatus> {
    const state = await retry(
      () => this.#server.plainly((connection) => runAsync(this.#schema.state(connection)), deadline),
      deadline.retries,
    )
    return { state, warnings: await this.#server.warnings(deadline) }
  }

  /** Refuses new calls, and closes what the storage opened when the running calls have ended, or after six seconds. */
  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    const timer = setTimeout(() => this.#interruptCalls(), MAX_CLOSE_WAIT_MS)
    if (this.#running.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    clearTimeout(timer)
    await this.#server.close()
  }

  readonly #answered = ({ place }: CallDeadline, error: unknown): void => {
    const last = this.#running.pop()
    if (last !== undefined && place < this.#running.length) {
      this.#running[place] = last
      last.place = place
    }
    // After a failure of the server, its tables may have changed.
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) this.#lookAgain()
    if (this.#running.length === 0) this.#onIdle()
  }

  /** The calls that still run are a migration, or the removal of much data. */
  #interruptCalls(): void {
    for (const deadline of [...this.#running]) deadline.close()
  }

  /** Has its own deadline: all calls that begin meanwhile wait for the same result. */
  #lookOnce(): FirstLook {
    const deadline = new CallDeadline()
    const done = deadline.run(() => this.#server.plainly((connection) => this.#look(connection), deadline))
    return { deadline, done }
  }

  #lookAgain(): void {
    this.#usable = undefined
    this.#isUsable = false
  }

  async #look(connection: Queryable): Promise<void> {
    await runAsync(this.#schema.refuseUnusable(connection))
  }
}
