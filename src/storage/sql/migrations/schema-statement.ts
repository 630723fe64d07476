import type { Compilable, RootOperationNode } from 'kysely'
import type { Statement } from '../query.ts'
import { compileStatement } from '../query.ts'

/** A table, view, index or trigger, by its name in the database. */
export interface SchemaThing {
  readonly name: string
  /** The table that an index or a trigger is on; of a table or view, its own name. */
  readonly table: string
}

/** A statement that changes the schema. */
export interface SchemaStatement extends Statement<unknown> {
  /** Undefined when it makes nothing with a name of its own. */
  readonly makes: SchemaThing | undefined
}

/** Compiles a statement that changes the schema. */
export function schemaStatement(query: Compilable<unknown>): SchemaStatement {
  return { ...compileStatement(query), makes: madeBy(query.compile().query) }
}

/** A statement that is written out, and what it makes. */
export function writtenStatement(sql: string, makes?: SchemaThing): SchemaStatement {
  return { sql, parameters: [], returnsRows: false, makes }
}

function madeBy(node: RootOperationNode): SchemaThing | undefined {
  switch (node.kind) {
    case 'CreateTableNode': {
      const { name } = node.table.table.identifier
      return { name, table: name }
    }
    case 'CreateViewNode': {
      const { name } = node.name.identifier
      return { name, table: name }
    }
    case 'CreateIndexNode':
      return { name: node.name.name, table: node.table?.table.identifier.name ?? '' }
    default:
      return undefined
  }
}
