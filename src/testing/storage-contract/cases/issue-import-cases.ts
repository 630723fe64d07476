import assert from 'node:assert/strict'
import type { IssueImportKey } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregate-sample.ts'
import { aggregateSample } from './aggregate-sample.ts'
import { outbox } from './contents.ts'
import { change, importIssues, NO_SUBJECT, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

const KEY: IssueImportKey = { repositoryId: '10' }

/** The sample of the issue imports. They keep nothing but their events. */
export const issueImportSample: AggregateSample = aggregateSample<IssueImportKey, undefined>({
  name: 'an issue import',
  store: (storage) => storage.issueImports,
  key: KEY,
  contents: () => undefined,
  alter: (state) => ({
    state,
    events: [{ ...NO_SUBJECT, type: 'issues.imported', data: { created: 1, updated: 0, comments: 2 }, ...KEY }],
    result: 'altered',
  }),
})

/** Cases about issue imports, which have a head and no rows. */
export const issueImportCases: readonly StorageCase[] = [
  storageCase('an import has no state, and keeps its event', async (storage) => {
    const seen: unknown[] = []
    const { events } = await change(storage.issueImports, KEY, (state) => {
      seen.push(state)
      const data = { created: 3, updated: 2, comments: 1 }
      return { state, events: [{ ...NO_SUBJECT, type: 'issues.imported', data, ...KEY }], result: undefined }
    })
    assert.deepEqual(seen, [undefined])
    assert.deepEqual(
      events.map(({ type, repositoryId, data }) => [type, repositoryId, data]),
      [['issues.imported', '10', { created: 3, updated: 2, comments: 1 }]],
    )
    assert.deepEqual(await outbox(storage), events)
  }),

  storageCase('imports of two repositories are independent', async (storage) => {
    await retire(storage, { thing: 'repository', repositoryId: '11' })
    await importIssues(storage, '10')

    await refuses('REPOSITORY_NOT_FOUND', () => importIssues(storage, '11'))
  }),
]
