import type {
  AddColumnNode,
  CreateIndexNode,
  CreateTableNode,
  CreateViewNode,
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  UnknownRow,
} from 'kysely'
import { OperationNodeTransformer } from 'kysely'

/** Makes the statements that create tables, columns, indexes and views repeatable after a run that ended halfway. */
export class IdempotentDdl implements KyselyPlugin {
  readonly #transformer = new RepeatableTransformer()

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node)
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result
  }
}

class RepeatableTransformer extends OperationNodeTransformer {
  protected override transformCreateTable(node: CreateTableNode): CreateTableNode {
    return { ...super.transformCreateTable(node), ifNotExists: true }
  }

  protected override transformAddColumn(node: AddColumnNode): AddColumnNode {
    const { column, ...rest } = super.transformAddColumn(node)
    return { ...rest, column: { ...column, ifNotExists: true } }
  }

  protected override transformCreateIndex(node: CreateIndexNode): CreateIndexNode {
    return { ...super.transformCreateIndex(node), ifNotExists: true }
  }

  protected override transformCreateView(node: CreateViewNode): CreateViewNode {
    return { ...super.transformCreateView(node), orReplace: true }
  }
}
