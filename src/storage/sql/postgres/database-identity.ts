import type { Place } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Tables } from '../tables.ts'

/** What a connection reaches under our names. */
export interface DatabaseIdentity {
  readonly database: string
  /** The number of our ledger in the catalogue; null if it does not exist, or if the `search_path` leads elsewhere. */
  readonly ledger: string | null
}

/** Returns the query for what a connection reaches. */
export function identityQuery({ schema, prefix }: Place): Statement<DatabaseIdentity> {
  const ledger = `"${prefix}${'ledger' satisfies keyof Tables}"`
  return {
    sql:
      'select cast(pg_catalog.current_database() as text) as "database", ' +
      'cast(cast(pg_catalog.to_regclass($1) as oid) as text) as "ledger"',
    parameters: [schema === undefined ? ledger : `"${schema}".${ledger}`],
    returnsRows: true,
  }
}

/** Returns whether two connections reach the same tables. */
export function isSame(one: DatabaseIdentity | undefined, other: DatabaseIdentity | undefined): boolean {
  return one?.database === other?.database && one?.ledger === other?.ledger
}

/** Checks that a transaction reaches the storage's tables. @throws TypeError if it does not, with what to do */
export function refuseElsewhere(home: DatabaseIdentity | undefined, theirs: DatabaseIdentity | undefined): void {
  if (home === undefined || isSame(home, theirs)) return
  if (home.database !== theirs?.database) {
    throw new TypeError('the transaction is on another database than the storage')
  }
  throw new TypeError('the transaction reaches other tables than the storage: its search_path is another')
}
