import type { ForgeError } from '../../schema/errors.ts'
import type { Steps } from '../../schema/steps.ts'
import type { SchemaStatus } from '../contract/forge-storage.ts'
import type { SchemaVersion } from './ledger.ts'
import { Ledger, outdated, refuseTooNew, refuseUnusable } from './ledger.ts'
import { ALL_MIGRATIONS } from './migrations/all-migrations.ts'
import type { Migration } from './migrations/migration.ts'
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
    for (const statement of migration.statements(this.#context)) yield* tell(session, statement)
    const { version, oldestLibrary } = migration
    yield* this.#ledger.write(session, found, { version, oldestLibrary })
    return { version, oldestLibrary }
  }

  /** How the tables are. @throws TypeError when ids are kept in other columns */
  *state(session: Session): Steps<SchemaStatus['state']> {
    const { prefix, dialect } = this.#context
    const present = yield* ask(session, dialect.columns(prefix))
    const names = new Set(present.map(({ table, column }) => `${table}.${column}`))
    const needed = columnsNeeded(prefix)
    if (needed.every((name) => !names.has(name))) return 'empty'

    const found = yield* this.#ledger.read(session)
    if (found !== undefined && found.oldestLibrary > this.#needed) return 'too-new'
    if (found !== undefined && found.version < this.#needed) return 'outdated'
    return found !== undefined && needed.every((name) => names.has(name)) ? 'current' : 'drifted'
  }
}

function columnsNeeded(prefix: string): readonly string[] {
  return [...Object.entries(TABLE_COLUMNS), ...Object.entries(VIEW_COLUMNS)].flatMap(([table, columns]) =>
    columns.map((column) => `${prefix}${table}.${column}`),
  )
}
