import { notFound } from '../../schema/errors.ts'
import type { PinBoardKey, PinBoardStore, PinRow } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { refuseRetired, updateAggregate } from './aggregate.ts'
import type { HeadKey, MemoryTables } from './memory-tables.ts'
import { copyPin } from './memory-tables.ts'

/** Creates the pin boards of a memory storage. */
export function memoryPinBoards(tables: MemoryTables): PinBoardStore<undefined> {
  return {
    epoch: (key) => tables.head(boardHead(key)).epoch,
    update: (key, change) => updateAggregate(tables, pinBoard(tables, key), change),
    load(key) {
      refuseRetired(tables, [[boardHead(key), 'repository']])
      return pinBoard(tables, key).load()
    },
  }
}

/** Returns the key of the head of one board. */
export function boardHead({ repositoryId, kind }: PinBoardKey): HeadKey {
  return `board ${kind} ${repositoryId}`
}

function pinBoard(tables: MemoryTables, key: PinBoardKey): Aggregate<readonly PinRow[]> {
  const head = boardHead(key)
  return {
    head,
    alive: [[head, 'repository']],
    load: () => (tables.boards.get(head)?.rows ?? []).map(copyPin),
    check(_before, after) {
      if (after.some((row) => tables.retiredIssues.has(row.issueId))) throw notFound('issue')
    },
    write: (_before, after) => tables.boards.set(head, { kind: key.kind, rows: after.map(copyPin) }),
  }
}
