import type { Compilable, Generated } from 'kysely'
import type { HostContext } from './host-tables.ts'

/** New columns of the tokens. A release that does not know them leaves them empty. */
export interface TokenColumns {
  readonly name: Generated<string | null>
  readonly created_at: Generated<number | null>
}

/** Creates the columns. It only adds: a release of an earlier version goes on beside. */
export function tokenColumns({ build, dialect: { types } }: HostContext): readonly Compilable<unknown>[] {
  const tokens = build.schema.alterTable('tokens')
  return [tokens.addColumn('name', types.text), tokens.addColumn('created_at', types.integer)]
}
