import { sql } from 'kysely'
import { ForgeError } from '../../index.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { SqlContext } from '../../storage/sql/context.ts'
import type { SchemaStatement } from '../../storage/sql/dialect.ts'
import { schemaStatement } from '../../storage/sql/dialect.ts'
import { unavailable } from '../../storage/sql/errors.ts'
import type { Query } from '../../storage/sql/query.ts'
import { defineQuery } from '../../storage/sql/query.ts'
import type { MigratedTables, Present } from '../../storage/sql/schema/schema.ts'
import { isWhole, presentIn, runSchema, Schema } from '../../storage/sql/schema/schema.ts'
import type { Queryable } from '../../storage/sql/session.ts'
import { queryFirst } from '../../storage/sql/session.ts'
import type { SchemaStatus } from '../../storage/storage.ts'
import type { HostContext, Row } from './tables.ts'
import { firstTables, HOST_TABLES, HOST_VERSION, OLDEST_LIBRARY } from './tables.ts'

const OTHER = 'name another database'

/** The host's own tables as a whole: creates, migrates and checks them. */
export class HostSchema implements MigratedTables {
  readonly context: HostContext
  readonly #forge: SqlContext
  readonly #forgeSchema: Schema
  readonly #statements: readonly SchemaStatement[]
  readonly #find: Query<Record<never, never>, Row<'schema'>>

  /** @param forge - the context of the forge's tables in the same database */
  constructor(context: HostContext, forge: SqlContext) {
    const { build, columns } = context
    this.context = context
    this.#forge = forge
    this.#forgeSchema = new Schema(forge)
    this.#statements = firstTables(context)
    this.#find = defineQuery(() =>
      build
        .selectFrom('schema')
        .select([columns.number('version').as('version'), columns.number('oldest_library').as('oldest_library')]),
    )
  }

  /**
   * Checks, without writing, that the database is empty or has tables of this server that this release can use.
   *
   * @throws ForgeError `SCHEMA_TOO_NEW` if the tables are for newer releases only; `STORAGE_UNAVAILABLE` if a table is
   * missing, if another program uses the same names, or if the database holds the forge of an application, whose ids
   * refer to other users
   */
  *refuseUnusable(session: Queryable): SyncOrAsync<void> {
    yield* this.#refuseForeign(session)
    const version = yield* this.#version(session)
    if (version >= HOST_VERSION && !isWhole(yield* presentIn(session, this.context), this.#statements)) {
      throw unavailable('a table, column or index of this server is missing: restore a copy of the database')
    }
  }

  /**
   * Checks, without writing, that the tables exist in a version that this release can use, also if a newer release has
   * migrated them meanwhile.
   *
   * @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  *refuseOutdated(session: Queryable): SyncOrAsync<void> {
    const found = yield* this.#version(session)
    if (found >= HOST_VERSION) return
    const message = `the host's tables have version ${found}, but ${HOST_VERSION} is needed: restart the server`
    throw new ForgeError('SCHEMA_OUTDATED', message, { found, needed: HOST_VERSION })
  }

  /**
   * Returns the state of the tables. `drifted`: a table or column that the migration creates is missing, or everything
   * under these names was created by others.
   */
  *state(session: Queryable): SyncOrAsync<SchemaStatus['state']> {
    const present = yield* presentIn(session, this.context)
    if (this.#statements.every(({ makes }) => makes === undefined || !present.has(makes.name))) return 'empty'

    const found = yield* this.#read(session, present)
    if (found === undefined) return 'drifted'
    if (found.oldest_library > HOST_VERSION) return 'too-new'
    if (found.version < HOST_VERSION) return 'outdated'
    return isWhole(present, this.#statements) ? 'current' : 'drifted'
  }

  *needsMigration(session: Queryable): SyncOrAsync<boolean> {
    return (yield* this.#version(session)) < HOST_VERSION
  }

  *complete(session: Queryable): SyncOrAsync<void> {
    yield* this.#refuseForeign(session) // an application may have created its tables first
    if (!(yield* this.needsMigration(session))) return

    const { build, dialect, schema } = this.context
    const version = { version: sql.lit(HOST_VERSION), oldest_library: sql.lit(OLDEST_LIBRARY) }
    const noted = [build.deleteFrom('schema'), build.insertInto('schema').values(version)].map(schemaStatement)
    yield* runSchema(session, [...dialect.createSchema(schema), ...this.#statements, ...noted], dialect)
  }

  /** Returns the version of the tables, or 0 if they are missing. @throws ForgeError `SCHEMA_TOO_NEW` */
  *#version(session: Queryable): SyncOrAsync<number> {
    const found = yield* this.#read(session, yield* presentIn(session, this.context))
    if (found === undefined || found.oldest_library <= HOST_VERSION) return found?.version ?? 0

    const { version, oldest_library: oldestLibrary } = found
    const message = `the host's tables have version ${version}, which only releases that know version ${oldestLibrary} can use`
    throw new ForgeError('SCHEMA_TOO_NEW', message, { found: version, oldestLibrary })
  }

  /** Reads the row of the version. Undefined if it, or the table, is missing, or the table is not the host's. */
  *#read(session: Queryable, present: Present): SyncOrAsync<Row<'schema'> | undefined> {
    return this.#hasVersion(present) ? yield* queryFirst(session, this.#find({})) : undefined
  }

  #hasVersion(present: Present): boolean {
    return isWhole(present, this.#statements.slice(0, 1))
  }

  /**
   * The server creates its own tables before those of the forge, and in each the version first. So a forge without them
   * belongs to an application. The questions are in that order, because another process may be creating the tables.
   */
  *#refuseForeign(session: Queryable): SyncOrAsync<void> {
    const { prefix } = this.context
    const named = new Set(HOST_TABLES.map((name) => `${prefix}${name}`))
    const beside = yield* presentIn(session, this.#forge)
    const forge = [...beside.keys()].filter((name) => !name.startsWith(prefix))
    const isForge = forge.length === 0 || this.#forgeSchema.hasLedger(beside)
    const present = yield* presentIn(session, this.context)
    const host = [...present.keys()].filter((name) => named.has(name))
    const isHost = host.length === 0 || this.#hasVersion(present)

    if (!isForge || !isHost) {
      throw unavailable(`it holds tables of another program: ${OTHER}`)
    }
    if (forge.length > 0 && host.length === 0) {
      const found = "it holds the forge of an application and none of this server's tables"
      throw unavailable(`${found}: ${OTHER}`)
    }
  }
}
