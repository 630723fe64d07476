import { ForgeError } from '../../../../src/index.ts'
import type { StorageFault } from '../storage-fault.ts'
import { inChanges, redecided } from '../storage-fault.ts'

/** Does not care that its caller has given up. */
export const ignoresSignals: StorageFault = inChanges((store, key, change) =>
  store.update(key, { ...change, signal: undefined }),
)

/** Fails when it is closed again. */
export const closesOnce: StorageFault = (storage) => {
  let closed = false
  return {
    ...storage,
    async close() {
      if (closed) throw new Error('closed already')
      closed = true
      await storage.close()
    },
  }
}

/** Has no place for listeners. */
export const refusesListeners: StorageFault = (storage) => ({
  ...storage,
  onWarning: () => {
    throw new Error('no listeners here')
  },
})

/** Still answers after it was closed. */
export const closesLate: StorageFault = (storage) => ({
  ...storage,
  close: async () => void setTimeout(() => void storage.close(), 300),
})

/** Refuses calls after its close as if it were briefly unavailable. */
export const closesAsIfAway: StorageFault = (storage) => {
  let closed = false
  const away = () => new ForgeError('STORAGE_UNAVAILABLE', 'the server is away', { outcome: 'nothing-done' })
  return {
    ...storage,
    events: {
      ...storage.events,
      claim: async (...given) => {
        if (closed) throw away()
        return storage.events.claim(...given)
      },
    },
    async close() {
      closed = true
      await storage.close()
    },
  }
}

/** Returns the wrong state of its tables. */
export const claimsToBeOutdated: StorageFault = (storage) => ({
  ...storage,
  schemaStatus: async () => ({ state: 'outdated', warnings: [] }),
})

/** Asks the clock again for its events. */
export const readsTheClockTwice: StorageFault = inChanges((store, key, change) =>
  store.update(
    key,
    redecided(change, (decide) => (state, at) => {
      const later = change.by.at()
      return decide(state, later.getTime() === at.getTime() ? at : later)
    }),
  ),
)
