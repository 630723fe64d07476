import type { Forge } from '../../index.ts'
import { runAsync, runMaybeAsync } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import { limitedTo, retry } from '../../storage/sql/retry.ts'
import type { ServerDatabase } from '../../storage/sql/server/database.ts'
import type { DatabaseServer } from '../../storage/sql/server/database-server.ts'
import { migrateServer } from '../../storage/sql/server/migrate.ts'
import type { ServerRuntime, ServerStorage } from '../../storage/sql/server/runtime.ts'
import type { RowsOfEach, Statements } from '../../storage/sql/session.ts'
import { queryEach } from '../../storage/sql/session.ts'
import type { ForgeStorage } from '../../storage/storage.ts'
import type { StandaloneUser } from '../host-ports.ts'
import type { HostDatabase, Loading } from './host-database.ts'
import { HostSchema } from './host-schema.ts'
import type { HostContext } from './host-tables.ts'
import { hostContext } from './host-tables.ts'

/** How long one attempt to load may take, and how long other processes that load are waited for, in milliseconds. */
const MAX_LOAD_MS = 300_000
const MAX_PAUSE_MS = 500

/** A database on a server, on the connections of the storage: with their deadlines, retries and checks. */
export class ServerHostDatabase<Tx extends object> implements HostDatabase<Tx> {
  readonly context: HostContext
  readonly storage: ForgeStorage<Tx>
  readonly #server: DatabaseServer<Tx>
  readonly #database: ServerDatabase<Tx>
  readonly #runtime: ServerRuntime<Tx>
  readonly #schema: HostSchema

  constructor({ storage, context, server, database, runtime }: ServerStorage<Tx>) {
    this.context = hostContext(context)
    this.storage = storage
    this.#server = server
    this.#database = database
    this.#runtime = runtime
    this.#schema = new HostSchema(this.context, context, 'database')
  }

  rows<Row>(statement: Statement<Row>, transaction?: Tx | undefined): Promise<readonly Row[]> {
    return this.#runtime.read((session) => session.all(statement), transaction)
  }

  rowsOfEach<Rows extends readonly unknown[]>(statements: Statements<Rows>): Promise<RowsOfEach<Rows>> {
    return this.#runtime.read((session) => runMaybeAsync(queryEach<Rows>(session, statements)), undefined)
  }

  async migrate(): Promise<void> {
    await this.#database.during(async (deadline) => {
      const look = () => this.#server.plainly((one) => runAsync(this.#schema.refuseUnusable(one)), deadline)
      await retry(look, deadline.retries)
    })
    await this.#database.during((deadline) => migrateServer(this.#server, this.#schema, deadline), {
      total: Number.POSITIVE_INFINITY,
    })
    await this.storage.migrate()
  }

  async load(forge: Forge<StandaloneUser, Tx>, steps: Loading): Promise<boolean> {
    const attempt = (): Promise<boolean> =>
      this.#database.during(
        (deadline) =>
          this.#server.inTransaction(async (connection) => {
            await connection.all(this.#lock())
            const loaded = await forge.withTransaction(connection.transaction, (joined) =>
              runAsync(steps(connection, joined)),
            )
            return loaded.value
          }, deadline),
        { total: MAX_LOAD_MS },
      )
    return retry(attempt, { ...limitedTo(MAX_LOAD_MS), maxPause: MAX_PAUSE_MS })
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
