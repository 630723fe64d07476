import type { KyselyPlugin } from 'kysely'
import { OperationNodeTransformer, TableNode } from 'kysely'
import type { Place } from './dialect.ts'

/**
 * Returns a plugin that adds a schema and a prefix to the names of some tables in every query.
 *
 * @param tables - their names without the prefix
 */
export function tablePrefix(place: Place, tables: readonly string[]): KyselyPlugin {
  const transformer = new PrefixTransformer(place, tables)
  return {
    transformQuery: ({ node }) => transformer.transformNode(node),
    transformResult: async ({ result }) => result,
  }
}

class PrefixTransformer extends OperationNodeTransformer {
  readonly #place: Place
  readonly #tables: ReadonlySet<string>

  constructor(place: Place, tables: readonly string[]) {
    super()
    this.#place = place
    this.#tables = new Set(tables)
  }

  protected override transformTable(node: TableNode): TableNode {
    const { name } = node.table.identifier
    if (!this.#tables.has(name)) return node

    const { schema, prefix } = this.#place
    const ours = `${prefix}${name}`
    return schema === undefined ? TableNode.create(ours) : TableNode.createWithSchema(schema, ours)
  }
}
