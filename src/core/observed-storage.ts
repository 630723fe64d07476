import type { AggregateStore } from '../storage/contract/aggregate-store.ts'
import type { BadgeCaseStore } from '../storage/contract/badge-case-store.ts'
import type { BadgeCatalogueStore } from '../storage/contract/badge-catalogue-store.ts'
import type { BlockStore } from '../storage/contract/block-store.ts'
import type { EventStore } from '../storage/contract/event-store.ts'
import type { ForgeStorage } from '../storage/contract/forge-storage.ts'
import type { PinBoardStore } from '../storage/contract/pin-board-store.ts'
import type { ObservedOperation } from './observed-operation.ts'
import type { Watch } from './watched-calls.ts'
import { watchedCalls } from './watched-calls.ts'

/**
 * A storage that tells of each of its operations once it has ended; what it does is done by the one behind it, and is
 * answered at once where that does. Every call goes on with all that it was given.
 *
 * @param tell - must not throw
 */
export function observedStorage<Tx>(
  storage: ForgeStorage<Tx>,
  tell: (seen: ObservedOperation) => void,
): ForgeStorage<Tx> {
  const watch = watchedCalls('storage', tell)

  return {
    pinBoards: pinBoards(() => storage.pinBoards, watchedCalls('pinBoards', tell)),
    blocks: blocks(() => storage.blocks, watchedCalls('blocks', tell)),
    badgeCases: badgeCases(() => storage.badgeCases, watchedCalls('badgeCases', tell)),
    badgeCatalogue: badgeCatalogue(() => storage.badgeCatalogue, watchedCalls('badgeCatalogue', tell)),
    events: events(() => storage.events, watchedCalls('events', tell)),
    get transactions() {
      return storage.transactions
    },
    retire: (...given) => watch({ operation: 'retire', work: () => storage.retire(...given) }),
    enter: (...given) => watch({ operation: 'enter', work: () => storage.enter(...given) }),
    migrate: async (...given) => watch({ operation: 'migrate', work: () => storage.migrate(...given) }),
    schemaStatus: async (...given) => watch({ operation: 'schemaStatus', work: () => storage.schemaStatus(...given) }),
    close: async (...given) => watch({ operation: 'close', work: () => storage.close(...given) }),
  }
}

function aggregate<Key, State, Tx>(
  store: () => AggregateStore<Key, State, Tx>,
  watch: Watch,
): AggregateStore<Key, State, Tx> {
  return {
    epoch: (...given) => watch({ operation: 'epoch', work: () => store().epoch(...given) }),
    update: (...given) =>
      watch({
        operation: 'update',
        work: () => store().update(...given),
        outcome: ({ stale }) => (stale ? 'stale' : 'done'),
        signal: given[1].signal,
      }),
  }
}

function pinBoards<Tx>(store: () => PinBoardStore<Tx>, watch: Watch): PinBoardStore<Tx> {
  return {
    ...aggregate(store, watch),
    load: (...given) => watch({ operation: 'load', work: () => store().load(...given) }),
  }
}

function blocks<Tx>(store: () => BlockStore<Tx>, watch: Watch): BlockStore<Tx> {
  return {
    ...aggregate(store, watch),
    find: (...given) => watch({ operation: 'find', work: () => store().find(...given) }),
    among: (...given) => watch({ operation: 'among', work: () => store().among(...given) }),
    page: (...given) => watch({ operation: 'page', work: () => store().page(...given) }),
  }
}

function badgeCases<Tx>(store: () => BadgeCaseStore<Tx>, watch: Watch): BadgeCaseStore<Tx> {
  return {
    ...aggregate(store, watch),
    heldBy: (...given) => watch({ operation: 'heldBy', work: () => store().heldBy(...given) }),
  }
}

function badgeCatalogue<Tx>(store: () => BadgeCatalogueStore<Tx>, watch: Watch): BadgeCatalogueStore<Tx> {
  return {
    ...aggregate(store, watch),
    find: (...given) => watch({ operation: 'find', work: () => store().find(...given) }),
    page: (...given) => watch({ operation: 'page', work: () => store().page(...given) }),
  }
}

function events<Tx>(store: () => EventStore<Tx>, watch: Watch): EventStore<Tx> {
  return {
    read: (...given) => watch({ operation: 'read', work: () => store().read(...given) }),
    list: (...given) => watch({ operation: 'list', work: () => store().list(...given) }),
    history: (...given) => watch({ operation: 'history', work: () => store().history(...given) }),
    committed: (...given) => watch({ operation: 'committed', work: () => store().committed(...given) }),
    claim: (...given) => watch({ operation: 'claim', work: () => store().claim(...given) }),
    advance: (...given) => watch({ operation: 'advance', work: () => store().advance(...given) }),
    release: (...given) => watch({ operation: 'release', work: () => store().release(...given) }),
    forget: (...given) => watch({ operation: 'forget', work: () => store().forget(...given) }),
    prune: (...given) => watch({ operation: 'prune', work: () => store().prune(...given) }),
  }
}
