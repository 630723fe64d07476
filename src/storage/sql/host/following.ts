import { sql } from 'kysely'
import { isForgeError } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { KeyName, SchemaStatement } from '../dialect.ts'
import { schemaStatement } from '../dialect.ts'
import type { Query } from '../query.ts'
import { compileStatement, defineQuery, rawQuery } from '../query.ts'
import { firstRow, replacedViews, VIEWS, viewReads } from '../schema/ddl.ts'
import type { Session } from '../session.ts'
import { query, queryFirst } from '../session.ts'
import { checkCatalogue, checkConditions, fullNameOf, misfits, refusedConditions, saidBy } from './catalogue.ts'
import type { HostKey, NameOn } from './keys.ts'
import { describeTables, followingNames, followingStatements, hostKeys, missingRow } from './keys.ts'
import type { HostTables } from './tables.ts'

/** How the tables of the forge follow those of the host: what has been made of it, and what makes it. */
export class Following {
  readonly #context: SqlContext
  readonly #description: string
  readonly #find: Query<unknown, { readonly tables: string }>

  constructor(context: SqlContext) {
    this.#context = context
    this.#description = describeTables(context.tables)
    this.#find = defineQuery(() => context.build.selectFrom('host_tables').select('tables'))
  }

  /**
   * Returns whether the tables of the forge were made to follow those that the storage knows.
   * @throws TypeError if they follow tables of the host, and the storage knows none
   */
  *isNoted(session: Session): SyncOrAsync<boolean> {
    const noted = (yield* queryFirst(session, this.#find({})))?.tables ?? ''
    if (noted !== '' && this.#description === '') {
      throw new TypeError('the tables of the forge follow those of the host: open the storage with the same tables')
    }
    return noted === this.#description
  }

  /**
   * Returns whether the tables follow those of the host, and nothing is missing for that.
   * @throws ForgeError `SCHEMA_CONFLICT` if they do, and the database refuses a condition now
   */
  *isMade(session: Session): SyncOrAsync<boolean> {
    if (!(yield* this.isNoted(session))) return false
    if ((yield* this.#misfitsAndMissing(session)).length > 0) return false
    yield* checkConditions(session, this.#context)
    return true
  }

  /**
   * Returns the statements that make the tables follow those of the host.
   * @throws ForgeError `SCHEMA_CONFLICT` if a table of the host does not fit
   */
  *statements(session: Session): SyncOrAsync<readonly SchemaStatement[]> {
    return this.plan(yield* checkCatalogue(session, this.#context))
  }

  /** Returns the same statements without a look at the tables of the host. */
  plan(typeOf: (key: HostKey) => string | undefined): readonly SchemaStatement[] {
    const { build } = this.#context
    const noted = build.updateTable('host_tables').set({ tables: sql.lit(this.#description) })
    return [
      ...followingStatements(this.#context, typeOf),
      ...replacedViews(this.#context),
      schemaStatement(firstRow(this.#context, 'host_tables', { only: 1, tables: '' })),
      schemaStatement(noted.where('only', '=', sql.lit(1))),
    ]
  }

  /** Returns what does not fit or is missing, as sentences. */
  *faults(session: Session): SyncOrAsync<readonly string[]> {
    return [...(yield* this.#misfitsAndMissing(session)), ...(yield* refusedConditions(session, this.#context))]
  }

  *#misfitsAndMissing(session: Session): SyncOrAsync<readonly string[]> {
    const { tables } = this.#context
    const [misfit, missing] = [yield* misfits(session, this.#context), yield* this.#missing(session)]
    // Rows of a table that is missing cannot be looked for.
    const orphans = misfit.length > 0 || tables === undefined ? [] : yield* this.#orphans(session, tables)
    return [...misfit, ...missing, ...orphans]
  }

  /** The names of the views. A host that changes one of its tables may have removed those that refer to it. */
  get views(): readonly string[] {
    return VIEWS.map((name) => `${this.#context.prefix}${name}`)
  }

  *#missing(session: Session): SyncOrAsync<readonly string[]> {
    const { dialect, schema, prefix, tables } = this.#context
    const present = new Set((yield* query(session, dialect.columns({ schema, prefix }))).map(({ table }) => table))
    const views = this.views.flatMap((name) => (present.has(name) ? [] : [`${name} is missing: call migrate()`]))
    if (tables === undefined) return views
    if (views.length === 0) views.push(...(yield* this.#oldViews(session)))

    const found = yield* query(session, dialect.keyNames({ schema, prefix }))
    // Several keys can have one trigger.
    const missing = followingNames(this.#context).flatMap(({ name, on }) => {
      const own = found.filter((key) => key.name === name)
      if (own.length === 0) return [`${name} is missing: call migrate()`]
      // A key or trigger stays with its table when that is renamed and another takes its name.
      const other = own.find((key) => !isOn(key, on))
      return other === undefined ? [] : [`${name} is on ${nameOf(other)}, not on ${fullNameOf(on)}: call migrate()`]
    })
    return [...new Set(missing), ...views]
  }

  *#oldViews(session: Session): SyncOrAsync<readonly string[]> {
    const { dialect, schema, prefix } = this.#context
    const { views } = dialect
    if (views.by === 'reading') {
      const unreadable: string[] = []
      for (const view of this.views) unreadable.push(...(yield* this.#refusalOf(session, view)))
      return unreadable
    }
    const others = (names: readonly string[]) => names.map((name) => `${name} reads other tables: call migrate()`)
    if (views.by === 'texts') {
      const texts = (yield* query(session, views.find({ schema, prefix }))).map(({ text }) => text)
      const wanted = replacedViews(this.#context).filter(({ sql: text }) => text.startsWith('create'))
      return others(this.views.filter((_name, at) => !texts.includes(wanted[at]?.sql ?? '')))
    }
    const found = yield* query(session, views.find({ schema, prefix }))
    const isRead = ({ name, on }: NameOn) => found.some((read) => read.name === name && isOn(read, on))
    const wanted = viewReads(this.#context)
    return others(this.views.filter((view) => wanted.some((read) => read.name === view && !isRead(read))))
  }

  /** Returns why a view cannot be read, unless the user lacks the privilege: others may have it. */
  *#refusalOf(session: Session, view: string): SyncOrAsync<readonly string[]> {
    const attempt = sql`select 1 as tried from ${sql.id(view)} where 1 = 0`
    try {
      yield* query(session, compileStatement(rawQuery(this.#context.build, attempt)))
      return []
    } catch (error) {
      if (isForgeError(error, 'STORAGE_BUSY')) throw error
      return isForgeError(error) ? [] : [`${view} cannot be read: ${saidBy(error)}: call migrate()`]
    }
  }

  /** A foreign key leaves no rows that refer to one that is gone, unless the host has switched the checks off meanwhile. */
  *#orphans(session: Session, tables: HostTables): SyncOrAsync<readonly string[]> {
    const { build, prefix } = this.#context
    const orphans: string[] = []
    for (const key of hostKeys(tables)) {
      const rows = sql<{
        readonly found: number
      }>`select 1 as found from ${sql.table(key.table)} where ${missingRow(this.#context, key)} limit 1`
      const found = yield* queryFirst(session, compileStatement(rawQuery(build, rows)))
      if (found === undefined) continue
      orphans.push(`${prefix}${key.table} refers to rows of ${key.host.table} that are gone: call migrate()`)
    }
    return orphans
  }
}

/** Returns whether what was found is at the table that the host names. */
function isOn({ on, schema, isReached }: KeyName, host: NameOn['on']): boolean {
  if (on.toLowerCase() !== host.table.toLowerCase()) return false
  return host.schema === undefined ? isReached === 1 : schema.toLowerCase() === host.schema.toLowerCase()
}

function nameOf({ on, schema, isReached }: KeyName): string {
  return isReached === 1 ? on : `${schema}.${on}`
}
