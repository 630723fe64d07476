import type { Forge } from '../../index.ts'
import { runAsync, runMaybeAsync } from '../../schema/sync-or-async.ts'
import { unavailable } from '../../storage/sql/errors.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import { limitedTo, retryAfter } from '../../storage/sql/retry.ts'
import { Schema } from '../../storage/sql/schema/schema.ts'
import type { ServerRuntime, ServerStorage } from '../../storage/sql/servers/server-runtime.ts'
import type { RowsOfEach, Statements } from '../../storage/sql/session.ts'
import { queryEach } from '../../storage/sql/session.ts'
import type { ForgeStorage, SchemaStatus } from '../../storage/storage.ts'
import type { HostDatabase, Loading } from './host-database.ts'
import { HostSchema } from './host-schema.ts'
import type { StandaloneUser } from './roles.ts'
import type { HostContext } from './tables.ts'
import { hostContext } from './tables.ts'

/** How long one attempt to load may take, and how long other processes that load are waited for, in milliseconds. */
const MAX_LOAD_MS = 300_000
const MAX_PAUSE_MS = 500

/** How long the check of the database may take, in milliseconds: those who ask wait for little longer. */
const MAX_CHECK_MS = 2000

/** A database on a server, on the connections of the storage: with their deadlines, retries and checks. */
export class ServerHostDatabase<Tx extends object> implements HostDatabase<Tx> {
  readonly context: HostContext
  readonly storage: ForgeStorage<Tx>
  readonly #runtime: ServerRuntime<Tx>
  readonly #schema: HostSchema
  readonly #forgeSchema: Schema

  constructor({ storage, context, runtime }: ServerStorage<Tx>) {
    this.context = hostContext(context)
    this.storage = storage
    this.#runtime = runtime
    this.#schema = new HostSchema(this.context, context, 'database')
    this.#forgeSchema = new Schema(context)
  }

  rows<Row>(statement: Statement<Row>, transaction?: Tx | undefined): Promise<readonly Row[]> {
    return this.#runtime.read((session) => session.all(statement), transaction)
  }

  rowsOfEach<Rows extends readonly unknown[]>(
    statements: Statements<Rows>,
    transaction?: Tx | undefined,
  ): Promise<RowsOfEach<Rows>> {
    return this.#runtime.read((session) => runMaybeAsync(queryEach<Rows>(session, statements)), transaction)
  }

  async migrate(): Promise<void> {
    await this.#runtime.plainly((one) => runAsync(this.#schema.refuseUnusable(one)))
    await this.#runtime.migrate(this.#schema)
    await this.storage.migrate()
  }

  async check(): Promise<void> {
    await this.#runtime.plainly(
      async (one) => {
        await runAsync(this.#schema.refuseOutdated(one))
        await runAsync(this.#forgeSchema.refuseUnusable(one))
      },
      { milliseconds: MAX_CHECK_MS, expired: () => unavailable('the database did not answer within two seconds') },
    )
  }

  state(): Promise<SchemaStatus['state']> {
    return this.#runtime.plainly((one) => runAsync(this.#schema.state(one)))
  }

  async load(forge: Forge<StandaloneUser, Tx>, steps: Loading): Promise<boolean> {
    const attempt = (): Promise<boolean> =>
      this.#runtime.inTransaction(
        async (session, transaction) => {
          await session.all(this.#lock())
          const { value } = await forge.withTransaction(transaction, (services) => runAsync(steps(session, services)))
          return value
        },
        { milliseconds: MAX_LOAD_MS },
      )
    const limits = { ...limitedTo(MAX_LOAD_MS), maxPause: MAX_PAUSE_MS }
    return attempt().catch((error) => retryAfter(error, attempt, limits))
  }

  close(): void {
    // The storage has closed its pool, which is the only one.
  }

  /** Writes the one row that every process has, unchanged: the next process that loads waits for it. */
  #lock(): Statement<unknown> {
    const { build } = this.context
    return compileStatement(build.updateTable('schema').set((row) => ({ version: row.ref('version') })))
  }
}
