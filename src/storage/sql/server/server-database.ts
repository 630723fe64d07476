import { isForgeError } from '../../../schema/errors.ts'
import { runLater } from '../../../schema/steps.ts'
import type { SchemaStatus } from '../../contract/forge-storage.ts'
import type { Schema } from '../schema.ts'
import type { Asking } from '../session.ts'
import { unavailable } from './failures.ts'
import { migrateServer } from './migrate-server.ts'
import { whenFree } from './patience.ts'
import type { Server, ServerConnection } from './server.ts'

/** One database on a server, with our tables: looked at before its first use, closed when the last work has ended. */
export class ServerDatabase<Tx extends object> {
  readonly #server: Server<Tx>
  readonly #schema: Schema
  readonly #running = new Set<Promise<unknown>>()
  readonly #known = new WeakSet<Tx>()
  #usable: Promise<void> | undefined
  #isUsable = false
  #closed: Promise<void> | undefined

  constructor(server: Server<Tx>, schema: Schema) {
    this.#server = server
    this.#schema = schema
  }

  /** Does something that `close()` waits for. @throws ForgeError `STORAGE_UNAVAILABLE` once it is closing */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw unavailable('the storage is closed')

    const running = work()
    this.#running.add(running)
    try {
      return await running
    } catch (error) {
      // whatever happened to the server, its tables may be others now
      if (isForgeError(error, 'STORAGE_UNAVAILABLE')) this.#lookAgain()
      throw error
    } finally {
      this.#running.delete(running)
    }
  }

  /** Looks at the tables, the first time. @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`; TypeError for other id columns */
  async refuseUnusable(): Promise<void> {
    this.#usable ??= this.#server.plainly((connection) => this.#look(connection))
    const looking = this.#usable
    try {
      await looking
      if (this.#usable === looking) this.#isUsable = true
    } catch (error) {
      if (this.#usable === looking) this.#lookAgain()
      throw error
    }
  }

  /** As `refuseUnusable`, on a connection of the host's: a look that has not ended may be waiting for this very one. */
  async refuseUnusableOn(connection: ServerConnection<Tx>): Promise<void> {
    if (this.#isUsable || this.#known.has(connection.transaction)) return

    await this.#look(connection)
    this.#known.add(connection.transaction)
  }

  /** Brings the tables up to date. Nothing is written before it is known that this library may. */
  async migrate(): Promise<void> {
    await migrateServer(this.#server, this.#schema)
    this.#lookAgain()
  }

  /** How the tables are; writes nothing. */
  async status(): Promise<SchemaStatus> {
    const state = await whenFree(() => this.#server.plainly((connection) => runLater(this.#schema.state(connection))))
    return { state, warnings: await this.#server.warnings() }
  }

  /** Takes no new calls, and ends what we opened when those that run have ended. */
  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    await Promise.allSettled(this.#running)
    await this.#server.close()
  }

  #lookAgain(): void {
    this.#usable = undefined
    this.#isUsable = false
  }

  async #look(connection: Asking): Promise<void> {
    await runLater(this.#schema.refuseUnusable(connection))
  }
}
