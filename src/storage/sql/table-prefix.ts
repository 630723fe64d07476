import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  UnknownRow,
} from 'kysely'
import { OperationNodeTransformer, TableNode } from 'kysely'
import { TABLE_COLUMNS } from './tables.ts'

/** Puts the storage's prefix before the names of our tables in every query. */
export class TablePrefix implements KyselyPlugin {
  readonly #transformer: OperationNodeTransformer

  constructor(prefix: string) {
    this.#transformer = new PrefixTransformer(prefix)
  }

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node)
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result
  }
}

class PrefixTransformer extends OperationNodeTransformer {
  readonly #prefix: string

  constructor(prefix: string) {
    super()
    this.#prefix = prefix
  }

  protected override transformTable(node: TableNode): TableNode {
    const { name } = node.table.identifier
    return name in TABLE_COLUMNS ? TableNode.create(`${this.#prefix}${name}`) : node
  }
}
