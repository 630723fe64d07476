import type { IssueImportKey, IssueImportStore } from '../../contract/stores.ts'
import type { SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'

/** Creates the issue imports of an SQL storage: one head per repository, and no rows. */
export function sqlIssueImports<Tx>(parts: StoreParts<Tx>): IssueImportStore<Tx> {
  const { heads } = parts
  const headOf = ({ repositoryId }: IssueImportKey) => heads.of('issueImports', repositoryId)

  const imports: SqlAggregate<IssueImportKey, undefined, [unknown]> = {
    own: ({ repositoryId }) => ({ repositoryId }),
    locks: (key) => [headOf(key)],
    refers: ({ repositoryId }) => [{ thing: 'repository', id: repositoryId }],
    shows: () => false,
    // There is nothing to load, but the call may take long from here on: what the host writes grows with the records.
    loading: (key) => [{ ...heads.finding(headOf(key)), mayTakeLong: true }],
    state: () => undefined,
    writing: (_key, { head }) => ({ statements: [], head }),
  }
  return aggregateStore(parts, imports)
}
