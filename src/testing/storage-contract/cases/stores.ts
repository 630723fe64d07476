import type { ForgeEvent } from '../../../index.ts'
import type { AggregateStores, ForgeStorage } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregate-sample.ts'
import { userBadgesCases, userBadgesSample } from './badge-cases.ts'
import { badgeCatalogueCases, badgeCatalogueSample } from './badge-catalogue-cases.ts'
import { blockCases, blockSample } from './block-cases.ts'
import { blockPageCases } from './block-page-cases.ts'
import { outbox } from './contents.ts'
import { issueImportCases, issueImportSample } from './issue-import-cases.ts'
import { pinBoardCases, pinBoardSample } from './pin-board-cases.ts'
import type { StorageCase } from './storage-case.ts'

/** How one store is tested: a sample for the rules of every aggregate, and the cases about this store alone. */
interface StoreTests {
  readonly sample: AggregateSample
  readonly cases: readonly StorageCase[]
}

/** The tests of every store. A new store does not compile until it is here. */
const STORES: Readonly<Record<keyof AggregateStores<unknown>, StoreTests>> = {
  pinBoards: { sample: pinBoardSample, cases: pinBoardCases },
  blocks: { sample: blockSample, cases: [...blockCases, ...blockPageCases] },
  userBadges: { sample: userBadgesSample, cases: userBadgesCases },
  badgeCatalogue: { sample: badgeCatalogueSample, cases: badgeCatalogueCases },
  issueImports: { sample: issueImportSample, cases: issueImportCases },
}

/** The cases about one store each. */
export const storeCases: readonly StorageCase[] = Object.values(STORES).flatMap(({ cases }) => cases)

/** Every aggregate. */
export const AGGREGATES: readonly AggregateSample[] = Object.values(STORES).map(({ sample }) => sample)

/** All data that the samples can change, for a comparison of before and after. */
export interface Everything {
  /** What each sample reads, in the order of the samples. */
  readonly contents: readonly unknown[]
  readonly events: readonly ForgeEvent[]
  /** The epoch of the organization of the blocks. */
  readonly epoch: number
}

/** Reads all data that the samples can change. */
export async function everything<Tx>(storage: ForgeStorage<Tx>): Promise<Everything> {
  return {
    contents: await Promise.all(AGGREGATES.map((one) => one.contents(storage))),
    events: await outbox(storage),
    epoch: await storage.blocks.epoch('20'),
  }
}
