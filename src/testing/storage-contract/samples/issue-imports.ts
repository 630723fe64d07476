import type { IssueImportKey } from '../../../storage/storage.ts'
import { BOARD } from './pin-boards.ts'
import type { AggregateSample } from './sample.ts'
import { altered, change, kind, sampleOf } from './sample.ts'

const IMPORTED = { type: 'issues.imported', data: { created: 1, updated: 0, comments: 2 } } as const

/** The issue imports. Their issues would be in the tables of the host. */
export const issueImports: AggregateSample = sampleOf<IssueImportKey, undefined>({
  name: 'an issue import',
  store: (storage) => storage.issueImports,
  key: { repositoryId: BOARD.repositoryId },
  alter: (state) => altered(state, IMPORTED, { repositoryId: BOARD.repositoryId }),
  keys: ({ repositories }) => repositories.map((repositoryId) => ({ repositoryId })),
  reads: () => [],
  kinds: {
    import: kind(
      3,
      (draw, { repositories }) => ({ repositoryId: draw.one(repositories) }),
      (to, key, extras) => change(to.issueImports, key, (state) => altered(state, IMPORTED, key), extras),
    ),
  },
})
