import { sql } from 'kysely'
import { ForgeError } from '../../../schema/errors.ts'
import type { OptionNames } from '../../../schema/options.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import type { SqlContext, SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext } from '../context.ts'
import type { SchemaStatement, SqlDialect } from '../dialect.ts'
import { schemaStatement } from '../dialect.ts'
import { busy } from '../errors.ts'
import type { Query, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Queryable } from '../session.ts'
import { execute, query, queryFirst } from '../session.ts'
import { firstVersion, ledger } from './ddl.ts'

/** What each version adds, oldest first. A version never changes once released; minor releases only add. */
const VERSIONS: readonly ((context: SqlContext) => readonly SchemaStatement[])[] = [firstVersion]

/** The version that this library needs. */
const NEEDED = VERSIONS.length

/** The oldest library, by its version, that can use the tables of this one. */
const OLDEST_LIBRARY = 1

/** Tables that are migrated together: those of the forge, or of a host. */
export interface MigratedTables {
  readonly context: Pick<SqlContext, 'dialect' | 'schema' | 'prefix'>
  /** Returns whether statements are missing. @throws ForgeError `SCHEMA_TOO_NEW` */
  needsMigration(session: Queryable): SyncOrAsync<boolean>
  /** Runs the missing statements inside a transaction, or under a lock. Another process may have run them already. */
  complete(session: Queryable): SyncOrAsync<void>
}

/**
 * Migrates tables on a connection of a server: under a lock that keeps other processes from doing the same, in one
 * transaction if the database can roll schema changes back.
 *
 * @throws what `complete` throws; ForgeError `STORAGE_BUSY` if another process migrates, or uses a table, for too long
 */
export function* migrateServer(session: Queryable, tables: MigratedTables): SyncOrAsync<void> {
  if (!(yield* tables.needsMigration(session))) return

  const { begin, end, abandon } = tables.context.dialect.migration
  try {
    for (const statement of begin(tables.context)) {
      const answer = yield* queryFirst(session, statement)
      if (answer?.lock === 'busy') throw busy('call')
    }
    yield* tables.complete(session)
    for (const statement of end(tables.context)) yield* execute(session, statement)
  } catch (error) {
    yield* abandoned(session, abandon(tables.context))
    throw error
  }
}

function* abandoned(session: Queryable, statements: readonly Statement<unknown>[]): SyncOrAsync<void> {
  try {
    for (const statement of statements) yield* execute(session, statement)
  } catch {
    // The connection is lost, and with it the transaction and the lock.
  }
}

/** The tables, views and indexes in a place: the columns of each, by name. */
export type Present = ReadonlyMap<string, ReadonlySet<string>>

/** Reads which tables, views and indexes begin with the prefix of a place. */
export function* presentIn(
  session: Queryable,
  { dialect, schema, prefix }: MigratedTables['context'],
): SyncOrAsync<Present> {
  const rows = yield* query(session, dialect.columns({ schema, prefix }))
  const present = new Map<string, Set<string>>()
  for (const { table, column } of rows) present.set(table, (present.get(table) ?? new Set()).add(column))
  return present
}

/** Returns whether everything that statements create is present, with all of its columns. */
export function isWhole(present: Present, statements: readonly SchemaStatement[]): boolean {
  return statements.every(({ makes }) => makes?.columns.every((column) => present.get(makes.name)?.has(column)) ?? true)
}

/** Runs statements that change the schema. */
export function* runSchema(
  session: Queryable,
  statements: readonly SchemaStatement[],
  dialect: SqlDialect,
): SyncOrAsync<void> {
  for (const statement of statements) {
    const text = dialect.migration.limited(dialect.repeatable(statement.sql))
    yield* execute(session, { ...statement, sql: text })
  }
}

interface LedgerRow {
  readonly version: number
  readonly oldest_library: number
  readonly ids: string
}

/** The tables of the forge as a whole: creates, migrates and checks them. */
export class Schema implements MigratedTables {
  readonly context: SqlContext
  readonly #find: Query<Record<never, never>, LedgerRow>
  readonly #ledger: readonly SchemaStatement[]

  constructor(context: SqlContext) {
    const { build, columns } = context
    this.context = context
    this.#ledger = ledger(context)
    this.#find = defineQuery(() =>
      build
        .selectFrom('ledger')
        .select([
          columns.number('version').as('version'),
          columns.number('oldest_library').as('oldest_library'),
          'ids',
        ]),
    )
  }

  /**
   * Checks that the tables can be used. @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE`;
   * TypeError if ids are stored in other columns
   */
  *refuseUnusable(session: Queryable): SyncOrAsync<void> {
    const version = yield* this.#version(session)
    if (version < NEEDED) throw outdated(version)
  }

  *needsMigration(session: Queryable): SyncOrAsync<boolean> {
    return (yield* this.#version(session)) < NEEDED
  }

  /** @throws ForgeError `SCHEMA_TOO_NEW`, `SCHEMA_CONFLICT`; TypeError if ids are stored in other columns */
  *complete(session: Queryable): SyncOrAsync<void> {
    const { context } = this
    const present = yield* presentIn(session, context)
    const found = yield* this.#found(session, present)
    if (found !== undefined && found.version >= NEEDED) return
    const missing = missingSince(context, found?.version)
    this.#refuseConflict(present, found, missing)
    yield* runSchema(session, missing, context.dialect)
  }

  /**
   * Returns the state of the tables. `drifted`: a table, view or column that the migrations create is missing, or the
   * row of the ledger is missing, or everything under our names was created by others.
   *
   * @throws TypeError if ids are stored in other columns
   */
  *state(session: Queryable): SyncOrAsync<SchemaStatus['state']> {
    const made = missingSince(this.context, undefined)
    const present = yield* presentIn(session, this.context)
    if (made.every(({ makes }) => makes === undefined || !present.has(makes.name))) return 'empty'

    const found = yield* this.#read(session, present)
    if (found === undefined) return 'drifted'
    if (found.oldest_library > NEEDED) return 'too-new'
    if (found.version < NEEDED) return 'outdated'
    return isWhole(present, made) ? 'current' : 'drifted'
  }

  /** Returns whether a table with the columns of our ledger is present. */
  hasLedger(present: Present): boolean {
    return isWhole(present, this.#ledger)
  }

  /** Returns the version of the tables; 0 if there are none. */
  *#version(session: Queryable): SyncOrAsync<number> {
    const { dialect, schema, prefix } = this.context
    const present = yield* presentIn(session, { dialect, schema, prefix: `${prefix}ledger` })
    return (yield* this.#found(session, present))?.version ?? 0
  }

  /** Reads the row of the ledger, unless it is of a library that this one cannot follow. */
  *#found(session: Queryable, present: Present): SyncOrAsync<LedgerRow | undefined> {
    const found = yield* this.#read(session, present)
    if (found === undefined || found.oldest_library <= NEEDED) return found

    const { version, oldest_library: oldestLibrary } = found
    const message = `the schema has version ${version}, which this library (${NEEDED}) cannot use: install a newer one`
    throw new ForgeError('SCHEMA_TOO_NEW', message, { found: version, oldestLibrary })
  }

  /** Reads the row of the ledger. Undefined if it, or the table, is missing, or the table is not ours. */
  *#read(session: Queryable, present: Present): SyncOrAsync<LedgerRow | undefined> {
    if (!this.hasLedger(present)) return undefined
    const row = yield* queryFirst(session, this.#find({}))
    if (row !== undefined) this.#refuseOtherIds(row)
    return row
  }

  /** A name that is taken would be mistaken for ours, or stop the migration halfway. */
  #refuseConflict(present: Present, found: LedgerRow | undefined, missing: readonly SchemaStatement[]): void {
    const { prefix, dialect } = this.context
    const names = missing.flatMap(({ makes }) => makes?.name ?? [])
    const taken = names.filter((name) => present.has(name))
    // Where schema changes cannot be rolled back, a migration that ended halfway has left its first tables.
    const isBegun = dialect.ddlCommitsItself && this.hasLedger(present)
    const [name] = isBegun && (found !== undefined || taken.length === 1) ? [] : taken
    if (name === undefined) return

    const fix = `choose another prefix, or restore the row of ${prefix}ledger`
    throw new ForgeError(
      'SCHEMA_CONFLICT',
      `the database already has ${name}, and no row of ${prefix}ledger mentions it: ${fix}`,
      { name },
    )
  }

  #refuseOtherIds({ ids }: LedgerRow): void {
    const wanted = this.context.ids.text
    if (ids === wanted) return
    throw new TypeError(`the database stores ids as ${ids}, not as ${wanted}: open the storage with the same ids`)
  }
}

/** Creates the error for tables that this library must migrate first. @param found - undefined if there are none */
export function outdated(found = 0): ForgeError<'SCHEMA_OUTDATED'> {
  const fix = 'call await storage.migrate(), or run "forgelet schema apply"'
  return new ForgeError('SCHEMA_OUTDATED', `the schema has version ${found}, but ${NEEDED} is needed: ${fix}`, {
    found,
    needed: NEEDED,
  })
}

/** The statements that bring tables of a version to the newest. Without tables, the ledger comes first. */
function missingSince(context: SqlContext, found: number | undefined): readonly SchemaStatement[] {
  const { build, dialect, schema } = context
  const made = found === undefined ? [...dialect.createSchema(schema), ...ledger(context)] : []
  const note = build.updateTable('ledger').set({ version: sql.lit(NEEDED), oldest_library: sql.lit(OLDEST_LIBRARY) })
  return [...made, ...VERSIONS.slice(found ?? 0).flatMap((version) => version(context)), schemaStatement(note)]
}

/** Returns the statements of the migration as text. @throws TypeError if an option is invalid */
export function planSchema<T extends SqlStorageOptions>(
  caller: string,
  dialect: SqlDialect,
  options: T,
  known: OptionNames<T>,
): readonly string[] {
  checkStorageOptions(caller, options, known)
  const statements = missingSince(createSqlContext(dialect, options), undefined)
  return dialect.script(statements.map(({ sql: text }) => dialect.repeatable(text.trim())))
}
