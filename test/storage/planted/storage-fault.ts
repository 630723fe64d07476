import type { MaybePromise } from '../../../src/index.ts'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type {
  AggregateStore,
  AggregateStores,
  Change,
  ChangeDecision,
  Outcome,
} from '../../../src/storage/contract/stores.ts'
import type { StorageKind } from '../storage-kind.ts'

/** Makes a storage of any kind break one rule. */
export type StorageFault = <Tx>(storage: ForgeStorage<Tx>) => ForgeStorage<Tx>

/** What becomes of one change of any aggregate. */
export type Alteration = <Key, State, Result, Tx, Prepared>(
  store: AggregateStore<Key, State, Tx>,
  key: Key,
  change: Change<State, Result, Tx, Prepared>,
) => MaybePromise<Outcome<Result>>

/** A fault in the changes of all aggregates. A new store does not compile until it is here. */
export function inChanges(alter: Alteration): StorageFault {
  return <Tx>(storage: ForgeStorage<Tx>) => {
    const { pinBoards, blocks, userBadges, badgeCatalogue, issueImports } = storage
    const altered: AggregateStores<Tx> = {
      pinBoards: { ...pinBoards, update: (key, change) => alter(pinBoards, key, change) },
      blocks: { ...blocks, update: (key, change) => alter(blocks, key, change) },
      userBadges: { ...userBadges, update: (key, change) => alter(userBadges, key, change) },
      badgeCatalogue: { ...badgeCatalogue, update: (key, change) => alter(badgeCatalogue, key, change) },
      issueImports: { ...issueImports, update: (key, change) => alter(issueImports, key, change) },
    }
    return { ...storage, ...altered }
  }
}

/** A change that is decided in another way, whether or not something is prepared for it. */
export function redecided<State, Result, Tx, Prepared>(
  change: Change<State, Result, Tx, Prepared>,
  alter: (decide: ChangeDecision<State, Result>['decide']) => ChangeDecision<State, Result>['decide'],
): Change<State, Result, Tx, Prepared> {
  if (change.prepare === undefined) return { ...change, decide: alter(change.decide) }

  const { decide } = change
  const altered: typeof decide = (state, at, prepared) =>
    alter((before, time) => decide(before, time, prepared))(state, at)
  return { ...change, decide: altered }
}

/** A kind of storage with a fault in each of its storages. */
export function withFault<Tx>({ name, open, host, end }: StorageKind<Tx>, fault: StorageFault): StorageKind<Tx> {
  const sound = new WeakMap<ForgeStorage<Tx>, ForgeStorage<Tx>>()
  const plant = async (opening: Promise<ForgeStorage<Tx>>) => {
    const storage = await opening
    const planted = fault(storage)
    sound.set(planted, storage)
    return planted
  }
  const soundOf = (planted: ForgeStorage<Tx>) => sound.get(planted) ?? planted
  const { again, beside, begin, beginSnapshot, beginReadCommitted, textIds } = host

  return {
    name,
    open: () => plant(open()),
    host: {
      again: again && ((storage) => plant(again(soundOf(storage)))),
      beside: beside && ((storage) => plant(beside(soundOf(storage)))),
      begin: begin && ((storage) => begin(soundOf(storage))),
      beginSnapshot: beginSnapshot && ((storage) => beginSnapshot(soundOf(storage))),
      beginReadCommitted: beginReadCommitted && ((storage) => beginReadCommitted(soundOf(storage))),
      textIds: textIds && (() => plant(textIds())),
    },
    end,
  }
}
