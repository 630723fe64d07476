import { sql } from 'kysely'
import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import type { OptionNames } from '../../../schema/options.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import type { SqlContext, SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext } from '../context.ts'
import type { HostTableName, SchemaStatement, SqlDialect } from '../dialect.ts'
import { busy, unavailable } from '../errors.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import { Following } from '../host/following.ts'
import type { TypeOfKey } from '../host/keys.ts'
import { HOST_THINGS } from '../ids.ts'
import type { Query, Statement } from '../query.ts'
import { compileStatement, defineQuery, rawQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { query, queryEach, queryFirst } from '../session.ts'
import type { Ledger } from './ddl.ts'
import { INCOMPLETE, ledgerOf, NEWEST_VERSION, versionsOf } from './ddl.ts'
import { TABLE_DESCRIPTIONS, valueType } from './tables.ts'

/** What to do about tables that are outdated. */
const FIX = 'call await storage.migrate(), or run "forgelet schema apply"'

/** The tables, views and indexes in a schema: the columns of each, by name. */
export type Present = ReadonlyMap<string, ReadonlySet<string>>

/** The message for tables that have the mark of a copy. */
export const INCOMPLETE_COPY =
  'a copy into it has not ended: if it was interrupted, copy again with "forgelet copy --empty"'

/** Why the row of the ledger may be missing. */
const HIDDEN = 'row-level security hides it from this user, so give the user a policy that shows all rows, or BYPASSRLS'

type LedgerRow = Pick<Row<'ledger'>, 'version' | 'oldestLibrary' | 'ids'>

/** The tables as a whole: creates, migrates and checks them. */
export class Schema {
  readonly #context: SqlContext
  readonly #ledger: Ledger
  readonly #following: Following
  readonly #find: Query<unknown, LedgerRow>

  constructor(context: SqlContext) {
    this.#context = context
    this.#ledger = ledgerOf(context)
    this.#following = new Following(context)
    this.#find = defineQuery(() =>
      context.build.selectFrom('ledger').select(fieldsOf(context, 'ledger').read('version', 'oldestLibrary', 'ids')),
    )
  }

  /**
   * Checks that the tables can be used. @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE`;
   * TypeError if ids are stored in other columns
   */
  *refuseUnusable(session: Session): SyncOrAsync<void> {
    const version = yield* this.#version(session)
    if (version < NEWEST_VERSION) throw this.outdated(version)
    if (yield* this.#following.isNoted(session)) return

    const message = `the schema does not follow the tables of the host yet: ${FIX}`
    throw new ForgeError('SCHEMA_OUTDATED', message, { found: version, needed: NEWEST_VERSION })
  }

  /** Returns whether statements are missing. @throws ForgeError `SCHEMA_TOO_NEW`, `SCHEMA_CONFLICT` */
  *needsMigration(session: Session): SyncOrAsync<boolean> {
    if ((yield* this.#version(session)) < NEWEST_VERSION) return true
    return !(yield* this.#following.isMade(session)) || (yield* this.#overtaken(session)) !== undefined
  }

  /**
   * Migrates the tables on a connection of a server: under a lock that keeps other processes from doing the same, in one
   * transaction if the database can roll schema changes back.
   *
   * @throws what `complete` throws; ForgeError `STORAGE_BUSY` if another process migrates, or uses a table, for too long
   */
  *migrate(session: Session): SyncOrAsync<void> {
    const { migration } = this.#context.dialect
    if (migration === undefined || !(yield* this.needsMigration(session))) return

    let lease: typeof migration.lease
    try {
      for (const statement of migration.begin(this.#context)) {
        const answer = yield* queryFirst(session, statement)
        if (answer?.lock === 'busy') throw busy('call')
      }
      lease = yield* takeLease(session, migration.lease)
      yield* this.complete(session)
      for (const statement of [...(lease?.give ?? []), ...migration.end]) yield* query(session, statement)
    } catch (error) {
      for (const statement of [...(lease?.give ?? []), migration.abandon]) yield* abandoned(session, statement)
      throw error
    }
  }

  /** Returns why the server accepts no changes, if it does not. */
  *readOnly(session: Session): SyncOrAsync<readonly string[]> {
    const { readOnly } = this.#context.dialect
    const rows = readOnly === undefined ? [] : yield* query(session, readOnly)
    return rows.map(({ why }) => `the server accepts no changes: ${why}`)
  }

  /**
   * Runs the missing statements inside a transaction, or under a lock. Another process may have run them already.
   * @throws ForgeError `SCHEMA_TOO_NEW`, `SCHEMA_CONFLICT`; TypeError if ids are stored in other columns
   */
  *complete(session: Session): SyncOrAsync<void> {
    const { dialect } = this.#context
    const present = yield* this.present(session)
    const found = yield* this.#found(session, present)
    const isCurrent = found !== undefined && found.version >= NEWEST_VERSION
    const isFollowed = isCurrent && (yield* this.#following.isMade(session))
    const overtaken = isCurrent ? yield* this.#overtaken(session) : undefined
    if (overtaken !== undefined) yield* queryEach(session, dialect.copying.assignAfter(this.#events, overtaken.last))
    if (isCurrent && isFollowed) return

    const all = isCurrent ? [] : this.#missingTables(found?.version)
    const isHidden = yield* this.#isHidden(session, present)
    const isBare = found === undefined && !isHidden && (yield* this.#isBare(session, present))
    const missing = isBare ? all.filter(({ makes }) => makes === undefined) : all
    this.#refuseConflict(present, found, missing, isHidden)
    const following = isFollowed ? [] : yield* this.#following.statements(session)
    for (const statement of [...missing, ...following, this.#ledger.note]) {
      const text = dialect.repeatable?.(statement.sql) ?? statement.sql
      yield* query(session, { ...statement, sql: dialect.migration?.limited?.(text) ?? text })
    }
  }

  /**
   * Returns the state of the tables, with what does not fit of those of the host. `drifted`: a table, view or column that the
   * migrations create is missing, or the row of the ledger is missing, or everything under our names was created by others.
   *
   * @throws TypeError if ids are stored in other columns
   */
  *status(session: Session): SyncOrAsync<SchemaStatus> {
    const made = this.#missingTables(undefined)
    const state = (state: SchemaStatus['state'], warnings: readonly string[] = []): SchemaStatus => ({
      state,
      warnings,
    })
    const present = yield* this.present(session)
    if (made.every(({ makes }) => makes === undefined || !present.has(makes.name))) return state('empty')

    const found = yield* this.#read(session, present)
    if (found === undefined) {
      const why = (yield* this.#isHidden(session, present)) ? `: ${HIDDEN}` : ''
      return state('drifted', [`no row of ${this.#context.prefix}ledger mentions the tables${why}`])
    }
    if (found.oldestLibrary >= INCOMPLETE) return state('incomplete')
    if (found.oldestLibrary > NEWEST_VERSION) return state('too-new')
    if (found.version < NEWEST_VERSION) return state('outdated')
    const missing = this.#missingOf(present)
    if (missing.length > 0) return state('drifted', missing)
    if (!(yield* this.#following.isNoted(session))) return state('outdated')
    const isOvertaken = (yield* this.#overtaken(session)) !== undefined
    const again = isOvertaken ? [`${this.#events.table} has ids that would be assigned again: call migrate()`] : []
    const faults = [...(yield* this.faults(session)), ...again]
    return state(faults.length === 0 ? 'current' : 'drifted', faults)
  }

  /** Returns what does not fit between the tables and those of the host that they follow, as sentences. */
  faults(session: Session): SyncOrAsync<readonly string[]> {
    return this.#following.faults(session)
  }

  /** Reads which tables, views and indexes begin with the prefix of the tables, or with this name behind it. */
  *present(session: Session, name = ''): SyncOrAsync<Present> {
    const { dialect, schema, prefix } = this.#context
    const rows = yield* query(session, dialect.columns({ schema, prefix: `${prefix}${name}` }))
    const present = new Map<string, Set<string>>()
    for (const { table, column } of rows) present.set(table, (present.get(table) ?? new Set()).add(column))
    return present
  }

  /** Returns whether a table with the columns of our ledger is present. */
  hasLedger(present: Present): boolean {
    return missingIn(present, this.#ledger.made).length === 0
  }

  /** Returns all statements, without a look at the database. */
  plan(typeOf: TypeOfKey): readonly SchemaStatement[] {
    const following = this.#context.tables === undefined ? [] : this.#following.plan(typeOf)
    return [...this.#missingTables(undefined), ...following, this.#ledger.note]
  }

  /** The statements that bring tables of a version to the newest. Without tables, the ledger comes first. */
  #missingTables(version: number | undefined): readonly SchemaStatement[] {
    const { dialect, schema } = this.#context
    const creating = schema === undefined ? undefined : dialect.createSchema?.(schema)
    const made = version === undefined ? [...(creating === undefined ? [] : [creating]), ...this.#ledger.made] : []
    const versions = versionsOf(this.#context).slice(version ?? 0)
    return [...made, ...versions.flat()]
  }

  /** Returns which tables, or which of their columns, are missing, as sentences. */
  #missingOf(present: Present): readonly string[] {
    const { views } = this.#following
    const made = this.#missingTables(undefined)
    return missingIn(
      present,
      made.filter(({ makes }) => makes === undefined || !views.includes(makes.name)),
    )
  }

  /** Creates the error for tables that this library must migrate first. @param found - 0 if there are none */
  outdated(found = 0): ForgeError<'SCHEMA_OUTDATED'> {
    const message = `the schema has version ${found}, but ${NEWEST_VERSION} is needed: ${FIX}`
    return new ForgeError('SCHEMA_OUTDATED', message, { found, needed: NEWEST_VERSION })
  }

  /** Returns the version of the tables; 0 if there are none. */
  *#version(session: Session): SyncOrAsync<number> {
    return (yield* this.#found(session, yield* this.present(session, 'ledger')))?.version ?? 0
  }

  /** Reads the row of the ledger, unless it is of a library that this one cannot follow. */
  *#found(session: Session, present: Present): SyncOrAsync<LedgerRow | undefined> {
    const found = yield* this.#read(session, present)
    if (found === undefined || found.oldestLibrary <= NEWEST_VERSION) return found
    if (found.oldestLibrary >= INCOMPLETE) throw unavailable(INCOMPLETE_COPY)

    const { version, oldestLibrary } = found
    const advice = `which this library (${NEWEST_VERSION}) cannot use: install a newer one`
    throw new ForgeError('SCHEMA_TOO_NEW', `the schema has version ${version}, ${advice}`, {
      found: version,
      oldestLibrary,
    })
  }

  /** Reads the row of the ledger. Undefined if it, or the table, is missing, or the table is not ours. */
  *#read(session: Session, present: Present): SyncOrAsync<LedgerRow | undefined> {
    if (!this.hasLedger(present)) return undefined
    const row = yield* queryFirst(session, this.#find({}))
    const wanted = this.#context.ids.text
    if (row === undefined || row.ids === wanted) return row
    throw new TypeError(`the database stores ids as ${row.ids}, not as ${wanted}: open the storage with the same ids`)
  }

  get #events(): HostTableName {
    const { schema, prefix } = this.#context
    return { schema, table: `${prefix}events` }
  }

  /** Finds the greatest id of an event, if it would be assigned again. */
  *#overtaken(session: Session): SyncOrAsync<{ readonly last: number } | undefined> {
    const { overtaken } = this.#context.dialect
    return overtaken && (yield* queryFirst(session, overtaken(this.#events)))
  }

  /**
   * Returns whether all tables are there, with the types of ids that the storage has, and no row is in any: those of a dump of
   * the schema alone. They lack what a migration writes.
   */
  *#isBare(session: Session, present: Present): SyncOrAsync<boolean> {
    if (this.#missingOf(present).length > 0) return false

    const { dialect, ids, prefix, schema, build } = this.#context
    for (const [name, { columns }] of Object.entries(TABLE_DESCRIPTIONS)) {
      const anyRow = rawQuery(build, sql<{ readonly found: number }>`select 1 as found from ${sql.table(name)} limit 1`)
      if ((yield* queryFirst(session, compileStatement(anyRow))) !== undefined) return false
      for (const { column, type } of yield* query(
        session,
        dialect.hostColumns({ schema, table: `${prefix}${name}` }),
      )) {
        const thing = HOST_THINGS.find((one) => one === valueType(columns[column] ?? 'text'))
        if (thing !== undefined && !dialect.fitsType(ids.columns[thing], type)) return false
      }
    }
    return true
  }

  /** Returns whether row-level security may hide the row of the ledger. */
  *#isHidden(session: Session, present: Present): SyncOrAsync<boolean> {
    const { dialect, schema, prefix, build } = this.#context
    const seesAll = dialect.seesAllRows?.({ schema, table: `${prefix}ledger` })
    if (seesAll === undefined || !this.hasLedger(present)) return false
    const asked = sql`select 1 as found where not (${seesAll})`
    return (yield* queryFirst(session, compileStatement(rawQuery(build, asked)))) !== undefined
  }

  /** A name that is taken would be mistaken for ours, or stop the migration halfway. */
  #refuseConflict(
    present: Present,
    found: LedgerRow | undefined,
    missing: readonly SchemaStatement[],
    isHidden: boolean,
  ): void {
    const { prefix, dialect } = this.#context
    const names = missing.flatMap(({ makes }) => makes?.name ?? [])
    const taken = names.filter((name) => present.has(name))
    // Where schema changes cannot be rolled back, a migration that ended halfway has left its first tables.
    const isBegun = dialect.repeatable !== undefined && this.hasLedger(present)
    const [name] = isBegun && (found !== undefined || taken.length === 1) ? [] : taken
    if (name === undefined) return

    const fix = isHidden ? HIDDEN : `choose another prefix, or restore the row of ${prefix}ledger`
    const message = `the database already has ${name}, and no row of ${prefix}ledger mentions it: ${fix}`
    throw new ForgeError('SCHEMA_CONFLICT', message, { name })
  }
}

/** Returns which of the tables that statements create are missing, or which of their columns, as sentences. */
function missingIn(present: Present, statements: readonly SchemaStatement[]): readonly string[] {
  return statements.flatMap(({ makes }) => {
    if (makes === undefined) return []
    const { name, columns } = makes
    const found = present.get(name)
    if (found === undefined) return columns.length === 0 ? [] : [`${name} is missing`] // an index has no columns
    return columns.filter((column) => !found.has(column)).map((column) => `${name} has no column ${column}`)
  })
}

type Lease = NonNullable<SqlDialect['migration']>['lease']

/** How long a migration waits for one on another node, and how long between two attempts, in milliseconds. */
const MAX_LEASE_WAIT_MS = 10_000
const LEASE_PAUSE_MS = 200

/**
 * Takes the lease of migrations, where the server is a node of a cluster. Waits for a process on another node that has it.
 *
 * @returns the lease, to be given back; undefined if none is needed
 * @throws ForgeError `STORAGE_BUSY` after ten seconds
 */
function* takeLease(session: Session, lease: Lease): SyncOrAsync<Lease> {
  if (lease === undefined || (yield* query(session, lease.needed)).length === 0) return undefined

  for (const end = performance.now() + MAX_LEASE_WAIT_MS; ; ) {
    try {
      let answer: { readonly lock: string } | undefined
      for (const statement of lease.take) answer = yield* queryFirst(session, statement)
      if (answer?.lock === 'taken') return lease
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY')) throw error // another node was first
    }
    if (performance.now() > end) throw busy('call')
    yield* wait(new Promise<void>((goOn) => setTimeout(goOn, LEASE_PAUSE_MS)))
  }
}

function* abandoned(session: Session, abandon: Statement<unknown>): SyncOrAsync<void> {
  try {
    yield* query(session, abandon)
  } catch {
    // The connection is lost, and with it the transaction and the lock.
  }
}

/** Returns the statements of the migration as text. @throws TypeError if an option is invalid */
export function planSchema<T extends SqlStorageOptions>(
  caller: string,
  dialect: SqlDialect,
  options: T,
  known: OptionNames<T>,
): readonly string[] {
  checkStorageOptions(caller, options, known)
  const context = createSqlContext(dialect, options)
  const statements = new Schema(context).plan(({ host, thing }) =>
    dialect.isOwnType(context.ids.columns[thing], host.type ?? '') ? undefined : host.type,
  )
  const texts = statements.map(({ sql }) => sql.trim())
  return dialect.script(texts.map((text) => dialect.repeatable?.(text) ?? text))
}
