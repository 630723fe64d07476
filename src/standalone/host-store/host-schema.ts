import { AddColumnNode, AlterTableNode, CreateTableNode, sql } from 'kysely'
import { ForgeError } from '../../index.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { SqlContext } from '../../storage/sql/context.ts'
import type { SchemaStatement } from '../../storage/sql/dialect.ts'
import { schemaStatement } from '../../storage/sql/dialect.ts'
import { unavailable } from '../../storage/sql/errors.ts'
import type { Query } from '../../storage/sql/query.ts'
import { defineQuery } from '../../storage/sql/query.ts'
import type { MigratedTables, Present } from '../../storage/sql/schema/schema.ts'
import { presentIn, runSchema, Schema } from '../../storage/sql/schema/schema.ts'
import type { Queryable } from '../../storage/sql/session.ts'
import { queryFirst } from '../../storage/sql/session.ts'
import type { SchemaStatus } from '../../storage/storage.ts'
import type { HostContext } from './host-tables.ts'
import { HOST_MIGRATIONS, HOST_TABLES, OLDEST_LIBRARY } from './host-tables.ts'

/** The host's own tables as a whole: creates, migrates and checks them. */
export class HostSchema implements MigratedTables {
  readonly context: HostContext
  readonly #forge: SqlContext
  readonly #forgeSchema: Schema
  readonly #place: string
  readonly #version: Query<Record<never, never>, { readonly version: number }>
  readonly #oldestLibrary: Query<Record<never, never>, { readonly oldest: number }>

  /**
   * @param forge - the context of the forge's tables in the same database
   * @param place - what users name to choose another place for the tables
   */
  constructor(context: HostContext, forge: SqlContext, place: 'file' | 'database') {
    this.context = context
    this.#forge = forge
    this.#forgeSchema = new Schema(forge)
    this.#place = place
    const { build, columns } = context
    this.#version = defineQuery(() => build.selectFrom('schema').select(columns.number('version').as('version')))
    this.#oldestLibrary = defineQuery(() =>
      build.selectFrom('schema').select(columns.number('oldest_library').as('oldest')),
    )
  }

  /**
   * Checks, without writing, that the database is empty or has tables of this server that this release can use.
   *
   * @throws ForgeError `SCHEMA_TOO_NEW` if the tables are for newer releases only; `STORAGE_UNAVAILABLE` if another program
   * uses the same names, or if the database holds the forge of an application, whose ids refer to other users
   */
  *refuseUnusable(session: Queryable): SyncOrAsync<void> {
    yield* this.#refuseForeign(session)
    yield* this.#found(session)
  }

  /**
   * Checks, without writing, that the tables exist in a version that this release can use, also if a newer release has
   * migrated them meanwhile.
   *
   * @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  *refuseOutdated(session: Queryable): SyncOrAsync<void> {
    const found = yield* this.#found(session)
    const needed = HOST_MIGRATIONS.length
    if (found >= needed) return
    const message = `the host's tables have version ${found}, but ${needed} is needed: restart the server`
    throw new ForgeError('SCHEMA_OUTDATED', message, { found, needed })
  }

  /**
   * Returns the state of the tables. `drifted`: a table or column that the migrations create is missing, or everything
   * under these names was created by others.
   */
  *state(session: Queryable): SyncOrAsync<SchemaStatus['state']> {
    const present = yield* presentIn(session, this.context)
    const needed = columnsMade(this.context)
    if (needed.every(({ table }) => !present.has(table))) return 'empty'

    const found = yield* this.#readVersion(session, present)
    if ((yield* this.#oldestRelease(session, found)) > HOST_MIGRATIONS.length) return 'too-new'
    if (found > 0 && found < HOST_MIGRATIONS.length) return 'outdated'
    const isWhole = found > 0 && needed.every(({ table, column }) => present.get(table)?.has(column))
    return isWhole ? 'current' : 'drifted'
  }

  *needsMigration(session: Queryable): SyncOrAsync<boolean> {
    return (yield* this.#found(session)) < HOST_MIGRATIONS.length
  }

  *complete(session: Queryable): SyncOrAsync<void> {
    yield* this.#refuseForeign(session) // an application may have created its tables first
    const found = yield* this.#found(session)
    if (found >= HOST_MIGRATIONS.length) return

    const { dialect, schema } = this.context
    const made = found === 0 ? [...dialect.createSchema(schema), ledgerTable(this.context)] : []
    const missing = HOST_MIGRATIONS.slice(found).flatMap((statements) => statements(this.context))
    yield* runSchema(session, [...made, ...missing.map(schemaStatement), ...noteVersion(this.context)], dialect)
  }

  /** Returns the version of the tables, or 0 if they are missing. @throws ForgeError `SCHEMA_TOO_NEW` */
  *#found(session: Queryable): SyncOrAsync<number> {
    const found = yield* this.#readVersion(session, yield* presentIn(session, this.context))
    const oldestLibrary = yield* this.#oldestRelease(session, found)
    if (oldestLibrary <= HOST_MIGRATIONS.length) return found
    const message = `the host's tables have version ${found}, which only releases that know version ${oldestLibrary} can use`
    throw new ForgeError('SCHEMA_TOO_NEW', message, { found, oldestLibrary })
  }

  /** Returns the version that a release must know to use tables of this version. */
  *#oldestRelease(session: Queryable, found: number): SyncOrAsync<number> {
    if (found <= HOST_MIGRATIONS.length) return OLDEST_LIBRARY

    const row = yield* queryFirst(session, this.#oldestLibrary({}))
    return row?.oldest ?? found
  }

  *#readVersion(session: Queryable, present: Present): SyncOrAsync<number> {
    if (!this.#hasVersion(present)) return 0

    const row = yield* queryFirst(session, this.#version({}))
    return row?.version ?? 0
  }

  #hasVersion(present: Present): boolean {
    return present.get(`${this.context.prefix}${HOST_TABLES[0]}`)?.has('version') ?? false
  }

  /**
   * The server creates its own tables before those of the forge, and in each the version first. So a forge without them
   * belongs to an application. The questions are in that order, because another process may be creating the tables.
   */
  *#refuseForeign(session: Queryable): SyncOrAsync<void> {
    const { context } = this
    const named = new Set(HOST_TABLES.map((name) => `${context.prefix}${name}`))
    const beside = yield* presentIn(session, this.#forge)
    const forge = [...beside.keys()].filter((name) => !name.startsWith(context.prefix))
    const isForge = forge.length === 0 || this.#forgeSchema.hasLedger(beside)
    const present = yield* presentIn(session, context)
    const host = [...present.keys()].filter((name) => named.has(name))
    const isHost = host.length === 0 || this.#hasVersion(present)

    if (!isForge || !isHost) {
      throw unavailable(`it holds tables of another program: name another ${this.#place}`)
    }
    if (forge.length > 0 && host.length === 0) {
      const found = "it holds the forge of an application and none of this server's tables"
      throw unavailable(`${found}: name another ${this.#place}`)
    }
  }
}

/** Returns the columns of all tables that the migrations create. */
function columnsMade(context: HostContext): readonly { readonly table: string; readonly column: string }[] {
  return HOST_MIGRATIONS.flatMap((statements) => statements(context)).flatMap((statement) => {
    const { query: node } = statement.compile()
    if (!CreateTableNode.is(node) && !AlterTableNode.is(node)) return []
    const { name: table } = node.table.table.identifier
    const added = CreateTableNode.is(node)
      ? node.columns
      : (node.columnAlterations ?? []).filter(AddColumnNode.is).map(({ column }) => column)
    return added.map(({ column }) => ({ table, column: column.column.name }))
  })
}

function ledgerTable({ build, dialect: { types, tableEnd } }: HostContext): SchemaStatement {
  return schemaStatement(
    build.schema
      .createTable('schema')
      .ifNotExists()
      .addColumn('version', types.integer, (column) => column.notNull())
      .modifyEnd(tableEnd),
  )
}

function noteVersion({ build }: HostContext): readonly SchemaStatement[] {
  return [
    build.deleteFrom('schema'),
    build
      .insertInto('schema')
      .values({ version: sql.lit(HOST_MIGRATIONS.length), oldest_library: sql.lit(OLDEST_LIBRARY) }),
  ].map(schemaStatement)
}
