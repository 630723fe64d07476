import { isForgeError } from '../../../schema/errors.ts'
import { isTypeError } from '../../../schema/realms.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import { BrokenReference, unavailable } from '../errors.ts'
import { fieldsOf } from '../fields.ts'
import type { Statement } from '../query.ts'
import { compileStatement } from '../query.ts'
import type { Ledger } from '../schema/ddl.ts'
import { INCOMPLETE, ledgerOf } from '../schema/ddl.ts'
import { INCOMPLETE_COPY, Schema } from '../schema/schema.ts'
import type { Session } from '../session.ts'
import { query, queryEach, queryFirst } from '../session.ts'
import type { CopiedDatabase, Overview } from './copied-database.ts'
import { refused, statesOf, tablesOf } from './copied-database.ts'
import type { CopyOptions } from './copy-options.ts'
import type { EventPositions } from './event-positions.ts'
import type { CopiedRow, TableRows } from './table-rows.ts'

/**
 * The database that is copied to. Each page is a transaction of its own, so its tables are marked until all rows are there.
 * A storage looks for the mark when it first uses the tables: the one that has set it goes on.
 */
export class CopyTarget {
  readonly #database: CopiedDatabase
  readonly #tables: readonly TableRows[]
  readonly #ledger: Ledger
  readonly #run: NonNullable<CopyOptions['inTarget']>

  /** @param inTarget - as in `CopyOptions` */
  constructor(database: CopiedDatabase, inTarget: CopyOptions['inTarget'] = (work) => work()) {
    this.#database = database
    this.#run = inTarget
    this.#tables = tablesOf(database)
    this.#ledger = ledgerOf(database.context)
  }

  /** Brings the tables up to date. @param empties - whether what a copy has left that was broken off is removed before */
  async prepare(empties: boolean): Promise<void> {
    await this.#run(async () => {
      if (empties) await this.#database.runtime.migrate(new Emptying(this.#database, this.#tables))
      await this.#database.migrate()
    })
  }

  /** Marks the tables. @throws ForgeError `COPY_REFUSED` if they are not empty; `STORAGE_UNAVAILABLE` if another copy has begun */
  async begin(): Promise<void> {
    const [tables, ledger, { context }] = [this.#tables, this.#ledger, this.#database]
    await this.#write(function* mark(session) {
      yield* query(session, ledger.mark)
      if ((yield* marksOf(session, context)) > 1) throw unavailable(INCOMPLETE_COPY)

      const states = yield* statesOf(session, tables)
      const found = tables.flatMap(({ location }, at) => {
        const { count = 0 } = states[at] ?? {}
        return count === 0 ? [] : [`${count.toLocaleString('en')} in ${location.table}`]
      })
      if (found.length > 0) throw refused('not-empty', `the target is not empty: it has rows (${found.join(', ')})`)
    })
  }

  /** Inserts rows into a table. @param at - the index of the table in their order */
  async insert(at: number, rows: readonly CopiedRow[]): Promise<void> {
    const table = this.#tables[at]
    if (table === undefined) return
    await this.#write(function* insert(session) {
      try {
        yield* queryEach(session, table.insertions(rows))
      } catch (error) {
        if (isForgeError(error) || isTypeError(error)) throw error
        const { table: name } = table.location
        const message =
          error instanceof BrokenReference
            ? `a row for ${name} refers to a row that the target does not have: copy the tables of the host first`
            : `the target does not accept a row for ${name}: others write to it, or it cannot store a value`
        throw refused('target-differs', message, error)
      }
    })
  }

  /** Checks that all rows are there, has the database assign new keys behind those of the source, and takes the mark off. */
  async end({ states, lastKeys }: Overview, positions: EventPositions): Promise<void> {
    const { context } = this.#database
    const [tables, ledger] = [this.#tables, this.#ledger]
    const keys = tables.flatMap(({ name, location }, at): readonly Statement<unknown>[] => {
      const last = Math.max(lastKeys[at] ?? 0, name === 'events' ? positions.last : 0)
      return last === 0 ? [] : context.dialect.copying.assignAfter(location, last)
    })
    await this.#write(function* assign(session) {
      yield* queryEach(session, keys)
    })
    await this.#write(function* unmark(session) {
      const found = yield* statesOf(session, tables)
      const other = tables.find((_, at) => found[at]?.count !== states[at]?.count)
      if (other !== undefined) {
        throw refused('target-differs', `others have written to ${other.location.table} meanwhile: copy again`)
      }
      const [fault] = yield* new Schema(context).faults(session)
      if (fault !== undefined) throw refused('target-differs', fault)
      yield* queryEach(session, [
        compileStatement(context.build.updateTable('outbox').set(positions.outbox)),
        ledger.unmark,
      ])
    })
  }

  async #write(work: (session: Session) => SyncOrAsync<void>): Promise<void> {
    await this.#run(async () => this.#database.runtime.write(work, {}))
  }
}

/** Returns how many copies have marked the tables. */
function* marksOf(session: Session, context: SqlContext): SyncOrAsync<number> {
  const row = compileStatement(
    context.build.selectFrom('ledger').select(fieldsOf(context, 'ledger').read('oldestLibrary')),
  )
  return Math.floor(((yield* queryFirst(session, row))?.oldestLibrary ?? 0) / INCOMPLETE)
}

/** Removes the rows of marked tables, and the mark, in place of a migration: it is alone with the tables. */
class Emptying extends Schema {
  readonly #context: SqlContext
  readonly #ledger: Ledger
  readonly #tables: readonly TableRows[]

  constructor({ context }: CopiedDatabase, tables: readonly TableRows[]) {
    super(context)
    this.#context = context
    this.#ledger = ledgerOf(context)
    this.#tables = tables
  }

  override needsMigration(): SyncOrAsync<boolean> {
    return wait(true)
  }

  override *complete(session: Session): SyncOrAsync<void> {
    if (!this.hasLedger(yield* this.present(session, 'ledger'))) return
    if ((yield* marksOf(session, this.#context)) === 0) return
    for (const table of this.#tables.toReversed()) yield* query(session, table.removal())
    yield* query(session, this.#ledger.unmark)
  }
}
