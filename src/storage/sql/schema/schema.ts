import { ForgeError } from '../../../schema/errors.ts'
import type { OptionNames } from '../../../schema/options.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import type { SchemaStorageOptions, SqlContext, SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext } from '../context.ts'
import type { MadeThing, SchemaThing, SqlDialect } from '../dialect.ts'
import type { Queryable } from '../session.ts'
import { query, queryFirst } from '../session.ts'
import { VIEW_COLUMNS } from './001-tables.ts'
import { ALL_MIGRATIONS } from './all-migrations.ts'
import type { SchemaVersion } from './ledger.ts'
import { Ledger, outdated, refuseTooNew, refuseUnusable } from './ledger.ts'
import type { MigratedTables, Migration, MigrationPart } from './migration.ts'
import { createLedger, migrationParts, statementsOf, thingsMadeBy } from './migration.ts'

/** Our tables as a whole: creates, migrates and checks them. */
export class Schema implements MigratedTables {
  readonly context: SqlContext
  readonly #ledger: Ledger
  readonly #migrations: readonly Migration[]

  constructor(context: SqlContext, migrations: readonly Migration[] = ALL_MIGRATIONS) {
    this.context = context
    this.#ledger = new Ledger(context)
    this.#migrations = migrations
  }

  /** The version that this library needs. */
  get #needed(): number {
    return Math.max(...this.#migrations.map((migration) => migration.version))
  }

  /** Creates the error for a database that does not exist yet. */
  missing(): ForgeError<'SCHEMA_OUTDATED'> {
    return outdated(undefined, this.#needed)
  }

  /**
   * Checks that the tables can be used. @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE`;
   * TypeError if ids are stored in other columns
   */
  *refuseUnusable(session: Queryable): SyncOrAsync<void> {
    const found = yield* this.#ledger.read(session)
    if (found === undefined) yield* this.#refuseNowhere(session)
    refuseUnusable(found, this.#needed)
  }

  /**
   * Returns whether migrations are missing. @throws ForgeError `SCHEMA_TOO_NEW`; TypeError if ids are stored in other
   * columns
   */
  *needsMigration(session: Queryable): SyncOrAsync<boolean> {
    const found = yield* this.#ledger.read(session)
    if (found === undefined) yield* this.#refuseNowhere(session)
    refuseTooNew(found, this.#needed)
    return found === undefined || found.version < this.#needed
  }

  /**
   * Runs the missing steps, under a lock that keeps other processes from doing the same.
   *
   * @param take - runs one part of them
   * @throws ForgeError `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE` if one of our names is taken; TypeError if ids are
   * stored in other columns
   */
  *migrate(session: Queryable, take: (part: MigrationPart) => SyncOrAsync<void>): SyncOrAsync<void> {
    const found = yield* this.#ledger.read(session)
    refuseTooNew(found, this.#needed)
    yield* this.#refuseForeign(session, found)
    for (const part of migrationParts(this.context, found, this.#migrations)) yield* take(part)
  }

  /** Foreign things under our names would be mistaken for ours, or stop the migration halfway. */
  *#refuseForeign(session: Queryable, found: SchemaVersion | undefined): SyncOrAsync<void> {
    const present = yield* query(session, this.context.dialect.things(this.context))
    const begun = yield* this.#begun(session, found)
    const ours = new Set(this.#made((version) => version <= begun).map(({ table }) => table))
    const foreign = new Set(present.filter((thing) => !isPartOf(ours, thing)).map(({ name }) => name))
    const met = this.#made((version) => version > begun).find(({ name }) => foreign.has(name))
    if (met === undefined) return

    const { prefix } = this.context
    const fix = `choose another prefix, or restore the row of ${prefix}ledger`
    const message = `the database already has ${met.name}, and no row of ${prefix}ledger mentions it: ${fix}`
    throw new ForgeError('STORAGE_UNAVAILABLE', message, { outcome: 'nothing-done' })
  }

  /**
   * Returns the newest step whose things the library may have created. 0 means the creation of the ledger, -1 means
   * none.
   */
  *#begun(session: Queryable, found: SchemaVersion | undefined): SyncOrAsync<number> {
    const { ddlCommitsItself } = this.context.dialect
    if (found === undefined) return ddlCommitsItself && (yield* this.#ledger.exists(session)) ? 0 : -1
    return ddlCommitsItself ? Math.max(found.version, yield* this.#ledger.begun(session)) : found.version
  }

  /**
   * Returns the state of the tables. `drifted`: a table, view, column, index or trigger that the migrations create is
   * missing, or the row of the ledger is missing, or everything under our names was created by others.
   *
   * @throws TypeError if ids are stored in other columns
   */
  *state(session: Queryable): SyncOrAsync<SchemaStatus['state']> {
    const present = yield* query(session, this.context.dialect.things(this.context))
    const names = new Set(present.map(({ name }) => name))
    const made = this.#made(() => true)
    if (made.every(({ name }) => !names.has(name))) {
      yield* this.#refuseNowhere(session)
      return 'empty'
    }

    const found = yield* this.#ledger.read(session)
    if (found === undefined) return 'drifted'
    if (found.oldestLibrary > this.#needed) return 'too-new'
    if (found.version < this.#needed) return 'outdated'
    return hasAll(present, made) && (yield* this.#hasColumns(session)) ? 'current' : 'drifted'
  }

  /** Checks that a schema for the tables exists. @throws ForgeError `STORAGE_UNAVAILABLE` if it does not */
  *#refuseNowhere(session: Queryable): SyncOrAsync<void> {
    const { dialect, schema } = this.context
    if (schema !== undefined || dialect.defaultSchema === undefined) return

    const found = yield* queryFirst(session, dialect.defaultSchema)
    if (found?.name !== null) return
    const message =
      'the search_path of the connection names no schema that exists and that its role may use: ' +
      'create the schema, or name one with the option schema'
    throw new ForgeError('STORAGE_UNAVAILABLE', message, { outcome: 'nothing-done' })
  }

  /** Returns what the steps of the selected versions create. The ledger is version 0. */
  #made(isAsked: (version: number) => boolean): readonly MadeThing[] {
    const ledger = isAsked(0) ? createLedger(this.context).flatMap(({ makes }) => makes ?? []) : []
    return [
      ...ledger,
      ...thingsMadeBy(
        this.context,
        this.#migrations.filter(({ version }) => isAsked(version)),
      ),
    ]
  }

  *#hasColumns(session: Queryable): SyncOrAsync<boolean> {
    const { prefix, dialect } = this.context
    const present = yield* query(session, dialect.columns(this.context))
    const columns = new Set(present.map(({ table, column }) => `${table}.${column}`))
    return columnsNeeded(
      this.#made(() => true),
      prefix,
    ).every((name) => columns.has(name))
  }
}

/** Returns whether a thing is an index or a trigger on one of the tables. */
function isPartOf(tables: ReadonlySet<string>, { name, table }: SchemaThing): boolean {
  return name !== table && tables.has(table)
}

function hasAll(present: readonly SchemaThing[], made: readonly SchemaThing[]): boolean {
  const there = new Set(present.map(({ name, table }) => `${table}.${name}`))
  return made.every(({ name, table }) => there.has(`${table}.${name}`))
}

function columnsNeeded(made: readonly MadeThing[], prefix: string): readonly string[] {
  const ofViews = Object.entries(VIEW_COLUMNS).map(([view, columns]) => ({ table: `${prefix}${view}`, columns }))
  return [...made, ...ofViews].flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`))
}

/** The options of a schema plan: those of the storage, and where the migration begins. */
export interface SchemaPlanOptions extends SqlStorageOptions {
  /** The current version of the tables according to the ledger. Default: 0, no tables. */
  readonly from?: number | undefined
}

/** Returns the statements of the migration as text. @throws TypeError if an option is invalid */
export function planSchema<T extends SchemaPlanOptions & SchemaStorageOptions>(
  caller: string,
  dialect: SqlDialect,
  given: T,
  known: OptionNames<T>,
): readonly string[] {
  checkStorageOptions(caller, given, known)
  const { from = 0, ...options } = given
  const newest = Math.max(...ALL_MIGRATIONS.map(({ version }) => version))
  if (!Number.isInteger(from) || from < 0 || from > newest) {
    throw new TypeError(`from must be the version of tables, 0 to ${newest}`)
  }

  const context = createSqlContext(dialect, options)
  const found = from === 0 ? undefined : { version: from, oldestLibrary: 1 }
  return migrationParts(context, found, ALL_MIGRATIONS).flatMap((part) => {
    const statements = statementsOf(part).map(({ sql }) => sql.trim())
    return 'index' in part ? statements : dialect.script(statements)
  })
}
