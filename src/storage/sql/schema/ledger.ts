import { ForgeError } from '../../../schema/errors.ts'
import type { HostThing } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Queryable } from '../session.ts'
import { query, queryFirst } from '../session.ts'

/**
 * The version of our tables: the number of their newest migration, and of the oldest library that may still use them.
 */
export interface SchemaVersion {
  readonly version: number
  readonly oldestLibrary: number
}

/**
 * Checks that a library of this schema can use the tables. @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW` if it
 * cannot
 */
export function refuseUnusable(found: SchemaVersion | undefined, library: number): void {
  refuseTooNew(found, library)
  if (found === undefined || found.version < library) throw outdated(found, library)
}

/** Creates the error for tables that a library of this schema must migrate first. */
export function outdated(schema: SchemaVersion | undefined, needed: number): ForgeError<'SCHEMA_OUTDATED'> {
  const found = schema?.version ?? 0
  return new ForgeError('SCHEMA_OUTDATED', `the schema has version ${found}, but ${needed} is needed: migrate first`, {
    found,
    needed,
  })
}

/** Checks that the tables are not too new. @throws ForgeError `SCHEMA_TOO_NEW` if they are for newer libraries only */
export function refuseTooNew(found: SchemaVersion | undefined, library: number): void {
  if (found === undefined || found.oldestLibrary <= library) return

  const { version, oldestLibrary } = found
  const message = `the schema has version ${version}, which this library (${library}) cannot use: install a newer one`
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

/** What a table must have to be a ledger. */
const LEDGER_COLUMNS = [
  'only',
  'version',
  'oldest_library',
  'user_ids',
  'organization_ids',
  'repository_ids',
  'issue_ids',
]

/** The ledger: one row with the version of our tables. Its format is the same in every version. */
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
   * Returns the version of the tables, or undefined if our tables or the row of the ledger are missing.
   * @throws TypeError if the host's ids are stored in other columns than the options of the storage say
   */
  *read(session: Queryable): SyncOrAsync<SchemaVersion | undefined> {
    if (!(yield* this.exists(session))) return undefined

    const row = yield* queryFirst(session, this.#find({}))
    if (row === undefined) return undefined
    this.#refuseOtherIds(row)
    return { version: row.version, oldestLibrary: row.oldest_library }
  }

  /** Returns whether a table with the columns of a ledger exists. */
  *exists(session: Queryable): SyncOrAsync<boolean> {
    const { schema, prefix, dialect } = this.#context
    const name = `${prefix}ledger`
    const present = yield* query(session, dialect.columns({ schema, prefix: name }))
    const columns = new Set(present.filter(({ table }) => table === name).map(({ column }) => column))
    return LEDGER_COLUMNS.every((column) => columns.has(column))
  }

  /** Returns the newest step that was begun. Used if every statement commits by itself. */
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
    throw new TypeError(`the database stores ${facts.join(', ')}: open the storage with the same ids`)
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
