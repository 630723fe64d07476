import { notFound } from '../../../schema/errors.ts'
import type { IssueImportKey, IssueImportStore } from '../../contract/stores.ts'
import type { QueryValues } from '../query.ts'
import { asWritten, defineQuery, mayTakeLong } from '../query.ts'
import type { SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { HeadKey } from './locks.ts'

/** Creates the issue imports of an SQL storage: one head per repository, and no rows. */
export function sqlIssueImports<Tx>(parts: StoreParts<Tx>): IssueImportStore<Tx> {
  const { heads } = parts
  const { build } = parts.context

  // The call may take long from here on: what the host writes grows with the records.
  const retiredBoard = mayTakeLong(
    asWritten(
      defineQuery((given: QueryValues<HeadKey>) =>
        build
          .selectFrom('heads')
          .select('scope')
          .where('scope', '=', given('scope'))
          .where('key', '=', given('key'))
          .where('retired', '=', 1),
      ),
    ),
  )

  const imports: SqlAggregate<IssueImportKey, undefined, [unknown]> = {
    own: ({ repositoryId }) => ({ repositoryId }),
    locks: ({ repositoryId }) => [heads.of('issueImports', repositoryId)],
    // An older library retires the boards of a repository and does not know the head of its imports.
    loading: ({ repositoryId }) => [retiredBoard(heads.of('issueBoard', repositoryId))],
    state(_key, [retiredBoards]) {
      if (retiredBoards.length > 0) throw notFound('repository')
    },
    writing: (_key, { head }) => ({ statements: [], head }),
  }
  return aggregateStore(parts, imports)
}
