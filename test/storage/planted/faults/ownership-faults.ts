import type { PinRow } from '../../../../src/storage/contract/stores.ts'
import { turns } from '../../../../src/testing/testing.ts'
import type { StorageFault } from '../storage-fault.ts'
import { inChanges, redecided } from '../storage-fault.ts'

interface Kept {
  /** What it was when it was kept. */
  readonly text: string
  readonly rows: readonly PinRow[]
}

/** Returns the very list it keeps. */
export const sharesWhatItGives: StorageFault = ({ pinBoards, ...storage }) => {
  const kept = new Map<string, Kept>()
  return {
    ...storage,
    pinBoards: {
      ...pinBoards,
      async load(key, transaction) {
        const rows = await pinBoards.load(key, transaction)
        const before = kept.get(JSON.stringify(key))
        if (before !== undefined && before.text === JSON.stringify(rows)) return before.rows

        kept.set(JSON.stringify(key), { text: JSON.stringify(rows), rows })
        return rows
      },
    },
  }
}

/** Keeps the very list that a decision handed in. */
export const sharesWhatItIsGiven: StorageFault = ({ pinBoards, ...storage }) => {
  const given: Kept[] = []
  return {
    ...storage,
    pinBoards: {
      ...pinBoards,
      update: (key, change) =>
        pinBoards.update(
          key,
          redecided(change, (decide) => (before, at) => {
            const decision = decide(before, at)
            given.push({ text: JSON.stringify(decision.state), rows: decision.state })
            return decision
          }),
        ),
      async load(key, transaction) {
        const rows = await pinBoards.load(key, transaction)
        return given.findLast(({ text }) => text === JSON.stringify(rows))?.rows ?? rows
      },
    },
  }
}

/** Shows a decision the very list it gives to readers. */
export const sharesWhatItShows: StorageFault = (storage) => {
  const { pinBoards, ...others } = sharesWhatItGives(storage)
  return {
    ...others,
    pinBoards: {
      ...pinBoards,
      async update(key, change) {
        const rows = await pinBoards.load(key, change.transaction)
        const shared = redecided(change, (decide) => (before, at) => {
          const decision = decide(JSON.stringify(rows) === JSON.stringify(before) ? rows : before, at)
          return decision.state === rows ? { ...decision, state: before } : decision
        })
        return pinBoards.update(key, shared)
      },
    },
  }
}

/** Reads the key of a change when its turn comes. */
export const readsKeysLater: StorageFault = inChanges(async (store, key, change) => {
  await turns(1)
  return store.update(key, change)
})

/** Reads what is retired when its turn comes. */
export const readsWhatIsRetiredLater: StorageFault = (storage) => ({
  ...storage,
  async retire(retirement) {
    await turns(1)
    return storage.retire(retirement)
  },
})
