import type { HostThing } from '../../schema/errors.ts'
import { ForgeError } from '../../schema/errors.ts'
import type { Steps } from '../../schema/steps.ts'
import type { ChosenIdColumns } from './id-columns.ts'
import type { Query } from './query.ts'
import { defineQuery } from './query.ts'
import type { Session } from './session.ts'
import { ask, askFirst, tell } from './session.ts'
import type { SqlContext } from './sql-context.ts'
import { TABLE_COLUMNS } from './tables.ts'

/** What our tables are: the number of their newest migration, and of the oldest library that may still use them. */
export interface SchemaVersion {
  readonly version: number
  readonly oldestLibrary: number
}

interface LedgerRow {
  readonly version: number
  readonly oldest_library: number
  readonly user_ids: string
  readonly organization_ids: string
  readonly repository_ids: string
  readonly issue_ids: string
}

/** The ledger: one row that says what our tables are. Its format is the same in every version. */
export class Ledger {
  readonly #context: SqlContext
  readonly #find: Query<Record<never, never>, LedgerRow>
  readonly #insert: Query<SchemaVersion & ChosenIdColumns, unknown>
  readonly #update: Query<SchemaVersion, unknown>

  constructor(context: SqlContext) {
    this.#context = context
    this.#find = findQuery(context)
    this.#insert = insertQuery(context)
    this.#update = updateQuery(context)
  }

  /**
   * What the tables are; undefined when there are none of ours, or none that say so.
   * @throws TypeError when the ids of the host's are kept in other columns than the storage was told
   */
  *read(session: Session): Steps<SchemaVersion | undefined> {
    const { prefix, dialect } = this.#context
    const present = yield* ask(session, dialect.columns(`${prefix}ledger`))
    const columns = new Set(present.filter(({ table }) => table === `${prefix}ledger`).map(({ column }) => column))
    if (TABLE_COLUMNS.ledger.some((column) => !columns.has(column))) return undefined

    const row = yield* askFirst(session, this.#find({}))
    if (row === undefined) return undefined
    this.#refuseOtherIds(row)
    return { version: row.version, oldestLibrary: row.oldest_library }
  }

  /** Notes what the tables are now, inside the transaction that made them so. */
  *write(session: Session, found: SchemaVersion | undefined, schema: SchemaVersion): Steps<void> {
    if (found === undefined) yield* tell(session, this.#insert({ ...schema, ...this.#context.ids.columns }))
    else yield* tell(session, this.#update(schema))
  }

  #refuseOtherIds(row: LedgerRow): void {
    const found: readonly (readonly [HostThing, string])[] = [
      ['user', row.user_ids],
      ['organization', row.organization_ids],
      ['repository', row.repository_ids],
      ['issue', row.issue_ids],
    ]
    for (const [kind, column] of found) {
      const asked = this.#context.ids.columns[kind]
      if (column !== asked) {
        throw new TypeError(
          `the database keeps ${kind} ids as ${column}, and the storage was told ids.${kind} is ${asked}`,
        )
      }
    }
  }
}

/** @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW` when a library of this schema cannot use the tables */
export function refuseUnusable(found: SchemaVersion | undefined, library: number): void {
  refuseTooNew(found, library)
  if (found === undefined || found.version < library) throw outdated(found, library)
}

/** The error for tables that a library of this schema has to migrate first. */
export function outdated(schema: SchemaVersion | undefined, needed: number): ForgeError<'SCHEMA_OUTDATED'> {
  const found = schema?.version ?? 0
  return new ForgeError('SCHEMA_OUTDATED', `the schema is at version ${found}, needed is ${needed}: migrate first`, {
    found,
    needed,
  })
}

/** @throws ForgeError `SCHEMA_TOO_NEW` when the tables are for newer libraries only */
export function refuseTooNew(found: SchemaVersion | undefined, library: number): void {
  if (found === undefined || found.oldestLibrary <= library) return

  const { version, oldestLibrary } = found
  const message = `the schema is at version ${version}, which this library (${library}) cannot use: install a newer one`
  throw new ForgeError('SCHEMA_TOO_NEW', message, { found: version, oldestLibrary })
}

function findQuery({ build, columns }: SqlContext): Query<Record<never, never>, LedgerRow> {
  return defineQuery(() =>
    build
      .selectFrom('ledger')
      .select([columns.number('version').as('version'), columns.number('oldest_library').as('oldest_library')])
      .select(['user_ids', 'organization_ids', 'repository_ids', 'issue_ids']),
  )
}

function insertQuery({ build }: SqlContext): Query<SchemaVersion & ChosenIdColumns, unknown> {
  return defineQuery((given) =>
    build.insertInto('ledger').values({
      only: 1,
      version: given('version'),
      oldest_library: given('oldestLibrary'),
      user_ids: given('user'),
      organization_ids: given('organization'),
      repository_ids: given('repository'),
      issue_ids: given('issue'),
    }),
  )
}

function updateQuery({ build }: SqlContext): Query<SchemaVersion, unknown> {
  return defineQuery((given) =>
    build.updateTable('ledger').set({ version: given('version'), oldest_library: given('oldestLibrary') }),
  )
}
