import { notFound } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { IssueImportKey, IssueImportStore } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery, mayTakeLong } from '../query.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import type { Difference, SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { Head, HeadKey, Lock } from './locks.ts'
import type { SqlStore } from './removals.ts'
import { keepAll } from './removals.ts'

/** Creates the issue imports of an SQL storage. They have no rows, so a retired repository takes none with it. */
export function sqlIssueImports<Tx>(parts: StoreParts<Tx>): SqlStore<IssueImportStore<Tx>> {
  return {
    store: aggregateStore(parts, new IssueImports(parts.context)),
    removals: { user: keepAll, organization: keepAll, repository: keepAll, issue: keepAll },
  }
}

/** The issue imports as aggregates: one head per repository. */
class IssueImports implements SqlAggregate<IssueImportKey, undefined, [RetiredBoard]> {
  readonly #context: SqlContext
  readonly #retiredBoard: Query<HeadKey, RetiredBoard>

  constructor(context: SqlContext) {
    this.#context = context
    // The call may take long from here on: what the host writes grows with the records.
    this.#retiredBoard = mayTakeLong(asWritten(retiredBoardQuery(context)))
  }

  own({ repositoryId }: IssueImportKey): IssueImportKey {
    return { repositoryId }
  }

  head(key: IssueImportKey): HeadKey {
    return { scope: 'issueImports', key: this.#repository(key) }
  }

  locks(key: IssueImportKey): readonly Lock[] {
    return [{ head: this.head(key), thing: 'repository' }]
  }

  /** An older library retires the boards of a repository and does not know the head of its imports. */
  loading(key: IssueImportKey): Statements<[RetiredBoard]> {
    return [this.#retiredBoard({ scope: 'issueBoard', key: this.#repository(key) })]
  }

  state(_key: IssueImportKey, [retiredBoards]: RowsOfEach<[RetiredBoard]>): undefined {
    if (retiredBoards.length > 0) throw notFound('repository')
  }

  // biome-ignore lint/correctness/useYield: there are no rows to write
  *write(_session: Session, _key: IssueImportKey, { head }: Difference<undefined>): SyncOrAsync<Head> {
    return head
  }

  #repository({ repositoryId }: IssueImportKey): string {
    return this.#context.ids.fitting('repository', repositoryId)
  }
}

interface RetiredBoard {
  readonly scope: string
}

function retiredBoardQuery({ build }: SqlContext): Query<HeadKey, RetiredBoard> {
  return defineQuery((given) =>
    build
      .selectFrom('heads')
      .select('scope')
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key'))
      .where('retired', '=', 1),
  )
}
