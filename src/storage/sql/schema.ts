import { ForgeError } from '../../schema/errors.ts'
import type { Steps } from '../../schema/steps.ts'
import type { SchemaStatus } from '../contract/forge-storage.ts'
import type { SchemaVersion } from './ledger.ts'
import { Ledger, outdated, refuseTooNew, refuseUnusable } from './ledger.ts'
import { ALL_MIGRATIONS } from './migrations/all-migrations.ts'
import type { Migration } from './migrations/migration.ts'
import type { Statement } from './query.ts'
import type { Session } from './session.ts'
import { ask, tell } from './session.ts'
import type { SqlContext } from './sql-context.ts'
import { TABLE_COLUMNS, VIEW_COLUMNS } from './tables.ts'

/** Our tables as a whole: made, brought up to date, and looked at. */
export class Schema {
  readonly #context: SqlContext
  readonly #ledger: Ledger
  readonly #migrations: readonly Migration[]

  constructor(context: SqlContext, migrations: readonly Migration[] = ALL_MIGRATIONS) {
    this.#context = context
    this.#ledger = new Ledger(context)
    this.#migrations = migrations
  }

  /** The version this library needs. */
  get #needed(): number {
    return Math.max(...this.#migrations.map((migration) => migration.version))
  }

  /** The error for a database that is not there yet. */
  missing(): ForgeError<'SCHEMA_OUTDATED'> {
    return outdated(undefined, this.#needed)
  }

  /** @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`; TypeError when ids are kept in other columns */
  *refuseUnusable(session: Session): Steps<void> {
    refuseUnusable(yield* this.#ledger.read(session), this.#needed)
  }

  /** Whether there is something to migrate. @throws ForgeError `SCHEMA_TOO_NEW`; TypeError when ids are kept in other columns */
  *needsMigration(session: Session): Steps<boolean> {
    const found = yield* this.#ledger.read(session)
    refuseTooNew(found, this.#needed)
    return found === undefined || found.version < this.#needed
  }

  /** Takes the missing steps, inside a transaction that holds the write lock; another process may have taken them. */
  *migrate(session: Session): Steps<void> {
    let found = yield* this.#ledger.read(session)
    refuseTooNew(found, this.#needed)
    for (const migration of this.#migrations) {
      if (found !== undefined && found.version >= migration.version) continue
      found = yield* this.#take(session, found, migration)
    }
  }

  *#take(session: Session, found: SchemaVersion | undefined, migration: Migration): Steps<SchemaVersion> {
    const statements = migration.statements(this.#context)
    yield* this.#refuseForeign(session, statements)
    for (const statement of statements) yield* tell(session, statement)
    const { version, oldestLibrary } = migration
    yield* this.#ledger.write(session, found, { version, oldestLibrary })
    return { version, oldestLibrary }
  }

  /** What is there under names of ours and is not ours would be taken for it, or stop the migration halfway. */
  *#refuseForeign(session: Session, statements: readonly Statement<unknown>[]): Steps<void> {
    const present = yield* this.#names(session)
    const met = namesMadeBy(statements).find((name) => present.has(name))
    if (met === undefined) return

    const { prefix } = this.#context
    const mend = `choose another prefix, or bring the row of ${prefix}ledger back`
    const message = `the database has a ${met} already, and no row of ${prefix}ledger tells of it: ${mend}`
    throw new ForgeError('STORAGE_UNAVAILABLE', message, { outcome: 'nothing-done' })
  }

  /**
   * How the tables are. `drifted`: a table, view, column, index or trigger that the migrations make is missing, or the
   * ledger's row is, or all there is under our names was made by others.
   *
   * @throws TypeError when ids are kept in other columns
   */
  *state(session: Session): Steps<SchemaStatus['state']> {
    const names = yield* this.#names(session)
    const made = namesMadeBy(this.#migrations.flatMap((migration) => migration.statements(this.#context)))
    if (made.every((name) => !names.has(name))) return 'empty'

    const found = yield* this.#ledger.read(session)
    if (found === undefined) return 'drifted'
    if (found.oldestLibrary > this.#needed) return 'too-new'
    if (found.version < this.#needed) return 'outdated'
    return made.every((name) => names.has(name)) && (yield* this.#hasColumns(session)) ? 'current' : 'drifted'
  }

  *#names(session: Session): Steps<ReadonlySet<string>> {
    const { prefix, dialect } = this.#context
    const present = yield* ask(session, dialect.names(prefix))
    return new Set(present.map(({ name }) => name))
  }

  *#hasColumns(session: Session): Steps<boolean> {
    const { prefix, dialect } = this.#context
    const present = yield* ask(session, dialect.columns(prefix))
    const columns = new Set(present.map(({ table, column }) => `${table}.${column}`))
    return columnsNeeded(prefix).every((name) => columns.has(name))
  }
}

/** The names that statements give to what they make. */
function namesMadeBy(statements: readonly Statement<unknown>[]): readonly string[] {
  return statements.flatMap(
    ({ sql }) => /^create (?:unique )?(?:table|view|index|trigger) "([^"]+)"/.exec(sql)?.[1] ?? [],
  )
}

function columnsNeeded(prefix: string): readonly string[] {
  return [...Object.entries(TABLE_COLUMNS), ...Object.entries(VIEW_COLUMNS)].flatMap(([table, columns]) =>
    columns.map((column) => `${prefix}${table}.${column}`),
  )
}
