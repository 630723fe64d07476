import type { SyncOrAsync } from '../../../src/schema/sync-or-async.ts'
import { unavailable } from '../../../src/storage/sql/errors.ts'
import { createTables } from '../../../src/storage/sql/schema/ddl.ts'
import { Schema } from '../../../src/storage/sql/schema/schema.ts'
import type { Session } from '../../../src/storage/sql/session.ts'
import type { HostContext } from './tables.ts'
import { HOST_TABLES } from './tables.ts'

const OTHER = 'name another database'

/** The host's own tables as a whole: creates, migrates and checks them. A release that adds to them adds a version. */
export class HostSchema extends Schema {
  readonly #prefix: string
  readonly #forge: Schema

  /** @param forge - the forge's tables in the same database */
  constructor(context: HostContext, forge: Schema) {
    super(context, {
      name: "the server's own schema",
      fix: 'restart the server',
      versions: [() => createTables(context, HOST_TABLES)],
      oldestLibrary: 1,
    })
    this.#prefix = context.prefix
    this.#forge = forge
  }

  override *complete(session: Session): SyncOrAsync<void> {
    yield* this.#refuseOthers(session) // an application may have created its tables first
    yield* super.complete(session)
  }

  /**
   * Checks, without writing, that the database is empty or has tables of this server that this release can use.
   *
   * @throws ForgeError `SCHEMA_TOO_NEW` if the tables are for newer releases only; `STORAGE_UNAVAILABLE` if a table is
   * missing, if another program uses the same names, or if the database holds the forge of an application, whose ids
   * refer to other users
   */
  *refuseForeign(session: Session): SyncOrAsync<void> {
    yield* this.#refuseOthers(session)
    if (!(yield* this.needsMigration(session)) && (yield* this.state(session)) === 'drifted') {
      throw unavailable('a table, column or index of this server is missing: restore a copy of the database')
    }
  }

  /**
   * The server creates its own tables before those of the forge, and in each the ledger first. So a forge without them
   * belongs to an application. The questions are in that order, because another process may be creating the tables.
   */
  *#refuseOthers(session: Session): SyncOrAsync<void> {
    const named = new Set(['ledger', ...Object.keys(HOST_TABLES)].map((name) => `${this.#prefix}${name}`))
    const beside = yield* this.#forge.present(session)
    const forge = [...beside.keys()].filter((name) => !name.startsWith(this.#prefix))
    const isForge = forge.length === 0 || this.#forge.hasLedger(beside)
    const present = yield* this.present(session)
    const host = [...present.keys()].filter((name) => named.has(name))
    const isHost = host.length === 0 || this.hasLedger(present)

    if (!isForge || !isHost) throw unavailable(`it holds tables of another program: ${OTHER}`)
    if (forge.length > 0 && host.length === 0) {
      const found = "it holds the forge of an application and none of this server's tables"
      throw unavailable(`${found}: ${OTHER}`)
    }
  }
}
