import type { IssueImportKey, IssueImportStore } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { updateAggregate } from './aggregate.ts'
import type { MemoryTables } from './memory-tables.ts'
import { importsHead } from './memory-tables.ts'
import type { MemoryStore } from './retirement.ts'
import { keepAll } from './retirement.ts'

/** Creates the issue imports of a memory storage. They have no rows, so a retired repository takes none with it. */
export function memoryIssueImports(tables: MemoryTables): MemoryStore<IssueImportStore<undefined>> {
  const store: IssueImportStore<undefined> = {
    update: (key, change) => updateAggregate(tables, issueImports(key), change),
  }
  return { store, removals: { user: keepAll, organization: keepAll, repository: keepAll, issue: keepAll } }
}

function issueImports(key: IssueImportKey): Aggregate<undefined> {
  return { alive: [[importsHead(key), 'repository']], load: () => undefined, write: () => undefined }
}
