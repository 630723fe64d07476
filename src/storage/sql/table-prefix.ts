import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  UnknownRow,
} from 'kysely'
import { OperationNodeTransformer, TableNode } from 'kysely'
import type { Place } from './dialect.ts'

/** Adds a schema and a prefix to the names of some tables in every query. */
export class TablePrefix implements KyselyPlugin {
  readonly #transformer: OperationNodeTransformer

  /** @param tables - their names without the prefix */
  constructor(place: Place, tables: readonly string[]) {
    this.#transformer = new PrefixTransformer(place, tables)
  }

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node)
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result
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
