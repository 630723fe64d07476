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
import { ALL_MIGRATIONS } from './schema/all-migrations.ts'

const TABLES: ReadonlySet<string> = new Set(['ledger', ...ALL_MIGRATIONS.flatMap(({ tables }) => tables)])

/** Adds the storage's schema and prefix to the names of our tables in every query. */
export class TablePrefix implements KyselyPlugin {
  readonly #transformer: OperationNodeTransformer

  constructor(place: Place) {
    this.#transformer = new PrefixTransformer(place)
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

  constructor(place: Place) {
    super()
    this.#place = place
  }

  protected override transformTable(node: TableNode): TableNode {
    const { name } = node.table.identifier
    if (!TABLES.has(name)) return node

    const { schema, prefix } = this.#place
    const ours = `${prefix}${name}`
    return schema === undefined ? TableNode.create(ours) : TableNode.createWithSchema(schema, ours)
  }
}
