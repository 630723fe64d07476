import type { ForgeEvent } from '../../../index.ts'
import type { AggregateStores, ForgeStorage, IssueImportKey } from '../../../storage/storage.ts'
import { badgeCatalogue, define, grant, userBadges } from './badges.ts'
import { block, blockByUser, blocks, userBlocks } from './blocks.ts'
import { outbox } from './outbox.ts'
import { BOARD, pin, pinBoards } from './pin-boards.ts'
import type { AggregateSample, Names, Reads } from './sample.ts'
import { altered, change, kind, sampleOf } from './sample.ts'

const IMPORTED = { type: 'issues.imported', data: { created: 1, updated: 0, comments: 2 } } as const

/** Their issues would be in the tables of the host. */
const issueImports: AggregateSample = sampleOf<IssueImportKey, undefined>({
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

/** The sample of every store. A new store does not compile until it is here. */
const SAMPLES: Readonly<Record<keyof AggregateStores<unknown>, AggregateSample>> = {
  pinBoards,
  blocks,
  userBlocks,
  userBadges,
  badgeCatalogue,
  issueImports,
}

/** Every aggregate. */
export const AGGREGATES: readonly AggregateSample[] = Object.values(SAMPLES)

/** What the samples and `fill` are about. */
const NAMES: Names = {
  repositories: ['10'],
  organizations: ['20'],
  users: ['30', '31'],
  issues: ['1', '2', '100'],
  pullRequests: ['8'],
  slugs: ['a', 'night-owl', 'early-bird'],
}

/** Every read that sees what a transaction of the host has written, as far as it is about the names of the samples. */
export function reads<Tx>(storage: ForgeStorage<Tx>, transaction?: Tx): Reads {
  return [
    ...AGGREGATES.flatMap((one) => one.reads(storage, NAMES, transaction)),
    ...AGGREGATES.flatMap((one) => one.lists(storage, NAMES, transaction)).map(
      ([what, read]) => [what, () => read({ from: { page: 1 }, limit: 1000 })] as const,
    ),
    ...NAMES.issues.map((id) => [`history of ${id}`, () => storage.events.history(id, transaction)] as const),
  ]
}

/** All data that the samples can change, for a comparison of before and after. */
export interface Everything {
  /** What each read returns. */
  readonly contents: readonly unknown[]
  readonly events: readonly ForgeEvent[]
}

/** Reads all data that the samples can change. */
export async function everything<Tx>(storage: ForgeStorage<Tx>): Promise<Everything> {
  return {
    contents: await Promise.all(reads(storage).map(([, read]) => read())),
    events: await outbox(storage),
  }
}

/** Fills boards, blocks and badges, so that every subject has dependent data. */
export async function fill<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  for (const slug of ['a', 'b']) await define(storage, slug)
  for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
  for (const issueId of ['8', '9']) await pin(storage, { ...BOARD, kind: 'pullRequest' }, issueId)
  await pin(storage, { ...BOARD, repositoryId: '11' }, '2')
  for (const userId of ['31', '30', '32']) await block(storage, '20', userId, { note: 'why' })
  await block(storage, '21', '30')
  for (const userId of ['32', '30']) await blockByUser(storage, '31', userId, { note: 'why' })
  await blockByUser(storage, '30', '31')
  for (const userId of ['30', '31']) await grant(storage, userId, ['a', 'b'])
}
