import type { HostThing } from '../../../schema/errors.ts'
import { ForgeError } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Queryable } from '../session.ts'
import { query, queryFirst } from '../session.ts'
import { TABLE_COLUMNS } from '../tables.ts'

/** What our tables are: the number of their newest migration, and of the oldest library that may still use them. */
export interface SchemaVersion {
  readonly version: number
  readonly oldestLibrary: number
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
  readonly #findBegun: Query<Record<never, never>, { readonly begun: number }>

  constructor(context: SqlContext) {
    this.#context = context
    this.#find = findQuery(context)
    this.#findBegun = findBegunQuery(context)
  }

  /**
   * What the tables are; undefined when there are none of ours, or none that say so.
   * @throws TypeError when the ids of the host's are kept in other columns than the storage was told
   */
  *read(session: Queryable): SyncOrAsync<SchemaVersion | undefined> {
    if (!(yield* this.exists(session))) return undefined

    const row = yield* queryFirst(session, this.#find({}))
    if (row === undefined) return undefined
    this.#refuseOtherIds(row)
    return { version: row.version, oldestLibrary: row.oldest_library }
  }

  /** Whether there is a table with the columns of a ledger. */
  *exists(session: Queryable): SyncOrAsync<boolean> {
    const { schema, prefix, dialect } = this.#context
    const name = `${prefix}ledger`
    const present = yield* query(session, dialect.columns({ schema, prefix: name }))
    const columns = new Set(present.filter(({ table }) => table === name).map(({ column }) => column))
    return TABLE_COLUMNS.ledger.every((column) => columns.has(column))
  }

  /** The newest step that was begun, where every statement commits by itself. */
  *begun(session: Queryable): SyncOrAsync<number> {
    const row = yield* queryFirst(session, this.#findBegun({}))
    return row?.begun ?? 0
  }

  #refuseOtherIds(row: LedgerRow): void {
    const found: readonly (readonly [HostThing, string])[] = [
      ['user', row.user_ids],
      ['organization', row.organization_ids],
      ['repository', row.repository_ids],
      ['issue', row.issue_ids],
    ]
    const { columns } = this.#context.ids
    const differing = found.filter(([kind, column]) => column !== columns[kind])
    if (differing.length === 0) return

    const facts = differing.map(
      ([kind, column]) => `${kind} ids as ${column} (the option ids.${kind} is ${columns[kind]})`,
    )
    throw new TypeError(`the database keeps ${facts.join(', ')}: open the storage with the ids that the database has`)
  }
}

function findQuery({ build, columns }: SqlContext): Query<Record<never, never>, LedgerRow> {
  return defineQuery(() =>
    build
      .selectFrom('ledger')
      .select([columns.number('version').as('version'), columns.number('oldest_library').as('oldest_library')])
      .select(['user_ids', 'organization_ids', 'repository_ids', 'issue_ids']),
  )
}

function findBegunQuery({ build, columns }: SqlContext): Query<Record<never, never>, { readonly begun: number }> {
  return defineQuery(() => build.selectFrom('ledger').select(columns.number('begun').as('begun')))
}
