import type { Forge, MaybePromise, Sync, TransactionServices } from 'forgelet'
import type { ForgeStorage, SchemaStatus } from 'forgelet/storage'
import type { SyncOrAsync } from '../../../src/schema/sync-or-async.ts'
import { after, runAsync, runMaybeAsync, runSync } from '../../../src/schema/sync-or-async.ts'
import { unavailable } from '../../../src/storage/sql/errors.ts'
import type { Statement } from '../../../src/storage/sql/query.ts'
import { compileStatement } from '../../../src/storage/sql/query.ts'
import { limitedTo, retryAfter } from '../../../src/storage/sql/retry.ts'
import type { Schema } from '../../../src/storage/sql/schema/schema.ts'
import { forgeSchema } from '../../../src/storage/sql/schema/schema.ts'
import type { RowsOfEach, Session, Statements } from '../../../src/storage/sql/session.ts'
import { queryEach } from '../../../src/storage/sql/session.ts'
import type { FileCheck } from '../../../src/storage/sql/sqlite/file-problems.ts'
import { fileProblems } from '../../../src/storage/sql/sqlite/file-problems.ts'
import type { HostedRuntime, HostedStorage } from '../../../src/storage/sql/stores/stores.ts'
import { HostSchema } from './host-schema.ts'
import type { StandaloneUser } from './roles.ts'
import type { HostContext } from './tables.ts'
import { hostContext } from './tables.ts'

/** How long one attempt to load may take, and how long other processes that load are waited for, in milliseconds. */
const MAX_LOAD_MS = 300_000
const MAX_PAUSE_MS = 500

/** How long the check of the database may take, in milliseconds: those who ask wait for little longer. */
const MAX_CHECK_MS = 2000

/** The services of the forge inside a transaction of the host. */
type LoadedForge = TransactionServices<StandaloneUser> | Sync<TransactionServices<StandaloneUser>>

/**
 * Writes to the tables of the host and of the forge in one transaction, and returns whether there was anything
 * to do.
 */
export type Loading = (session: Session, forge: LoadedForge) => SyncOrAsync<boolean>

/**
 * The database of a standalone host: its own tables, and the storage of its forge, on the same connections, with their
 * deadlines, retries and checks.
 */
export class HostDatabase<Tx> {
  readonly context: HostContext
  readonly storage: ForgeStorage<Tx>
  readonly #runtime: HostedRuntime<Tx>
  readonly #schema: HostSchema
  readonly #forgeSchema: Schema

  constructor({ storage, context, runtime }: HostedStorage<Tx>) {
    this.context = hostContext(context)
    this.storage = storage
    this.#runtime = runtime
    this.#forgeSchema = forgeSchema(context)
    this.#schema = new HostSchema(this.context, this.#forgeSchema)
  }

  /**
   * Returns the rows of a statement. On SQLite it answers at once.
   *
   * @param transaction - a transaction of the host or of the storage that is open; the statement is part of it
   */
  rows<Row>(statement: Statement<Row>, transaction?: Tx | undefined): MaybePromise<readonly Row[]> {
    return this.#runtime.read((session) => session.all(statement), transaction)
  }

  /** Runs statements in order, in as few round trips as possible, and returns the rows of each. Otherwise as `rows`. */
  rowsOfEach<Rows extends readonly unknown[]>(
    statements: Statements<Rows>,
    transaction?: Tx | undefined,
  ): MaybePromise<RowsOfEach<Rows>> {
    return this.#runtime.read((session) => runMaybeAsync(queryEach<Rows>(session, statements)), transaction)
  }

  /** Writes to the tables of the host, all or nothing, and one after the other: what is found is still so when it is written. */
  async write<T>(work: (session: Session) => SyncOrAsync<T>): Promise<T> {
    const alone = function* (session: Session, lock: readonly Statement<unknown>[]): SyncOrAsync<T> {
      yield* queryEach(session, lock)
      return yield* work(session)
    }
    return this.#runtime.write((session) => alone(session, this.#lock()), {})
  }

  /**
   * Brings the tables of the host up to date, then those of the forge. Nothing is written if the database cannot be
   * used: see `HostSchema.refuseForeign`.
   */
  async migrate(): Promise<void> {
    await this.#runtime.plainly((session) => runMaybeAsync(this.#schema.refuseForeign(session)))
    await this.#runtime.migrate(this.#schema)
    await this.storage.migrate()
  }

  /**
   * Checks that the database answers, and that the tables of the host and of the forge can be used. Writes nothing.
   * @throws ForgeError `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  async check(): Promise<void> {
    const expired = () => unavailable('the database did not answer within two seconds')
    await this.#runtime.plainly((session) => runMaybeAsync(this.#checked(session)), {
      milliseconds: MAX_CHECK_MS,
      expired,
    })
  }

  *#checked(session: Session): SyncOrAsync<void> {
    yield* this.#schema.refuseUnusable(session)
    yield* this.#forgeSchema.refuseUnusable(session)
    const [obstacle] = yield* this.#forgeSchema.readOnly(session)
    if (obstacle !== undefined) throw unavailable(obstacle)
  }

  /** Returns the state of the host's tables. Writes nothing. */
  state(): Promise<SchemaStatus['state']> {
    return this.#runtime.plainly((session) => runMaybeAsync(this.#schema.state(session)))
  }

  /** Returns what is wrong with the file, for a database on SQLite. Writes nothing. */
  fileProblems(check: FileCheck): Promise<readonly string[]> {
    return this.#runtime.plainly((session) => runMaybeAsync(fileProblems(session, check)))
  }

  /** Loads all or nothing, and alone as `write` does. */
  async load(forge: Forge<StandaloneUser, Tx>, steps: Loading): Promise<boolean> {
    const attempt = (): Promise<boolean> =>
      this.#runtime.inTransaction(
        (session, transaction) =>
          after(session.batch(this.#lock()), () =>
            this.storage.transactions === 'synchronous'
              ? forge.withTransactionSync(transaction, (services) => runSync(steps(session, services))).value
              : forge
                  .withTransaction(transaction, (services) => runAsync(steps(session, services)))
                  .then(({ value }) => value),
          ),
        { milliseconds: MAX_LOAD_MS },
      )
    const limits = { ...limitedTo(MAX_LOAD_MS), maxPause: MAX_PAUSE_MS }
    return attempt().catch((error) => retryAfter(error, attempt, limits))
  }

  /**
   * Changes the one row that every process has, and takes it back: the next process that writes in this way waits for it. The
   * other nodes of a Galera cluster see only changes.
   */
  #lock(): readonly Statement<unknown>[] {
    const { build } = this.context
    return (['+', '-'] as const).map((by) =>
      compileStatement(build.updateTable('ledger').set((row) => ({ version: row('version', by, 1) }))),
    )
  }
}
