import { notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { PinKind } from '../../schema/records.ts'
import type { BoardIssue, PinBoardKey, PinBoardStore, PinRow } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { refuseRetired, updateAggregate } from './aggregate.ts'
import type { HeadKey, MemoryTables } from './memory-tables.ts'
import { boardHead, copyPin } from './memory-tables.ts'
import type { MemoryStore, Removal, Removals } from './retirement.ts'
import { keepAll } from './retirement.ts'

/** The pins of one board, in order. */
interface Board {
  readonly kind: PinKind
  readonly rows: readonly PinRow[]
}

/** The tables, and the boards among them. */
interface PinTables {
  readonly tables: MemoryTables
  readonly boards: () => Map<HeadKey, Board>
}

/** Creates the pin boards of a memory storage. */
export function memoryPinBoards(tables: MemoryTables): MemoryStore<PinBoardStore<undefined>> {
  const pins: PinTables = { tables, boards: tables.own(new Map()) }

  const store: PinBoardStore<undefined> = {
    update: (key, change) => updateAggregate(tables, pinBoard(pins, key), change),
    load(key) {
      refuseRetired(tables, [[boardHead(key), 'repository']])
      return pinBoard(pins, key).load()
    },
    positions: (issues) => issues.map((issue) => positionOf(pins, issue)),
  }
  return { store, removals: removalsOf(pins) }
}

/** A retired repository takes its pins with it, and a retired issue the pins of it. */
function removalsOf(pins: PinTables): Removals {
  return {
    user: keepAll,
    organization: keepAll,
    repository: ({ repositoryId }) => removeBoards(pins, repositoryId),
    issue: ({ issueId, kind }) => removeIssue(pins, kind, issueId),
  }
}

function removeBoards({ boards }: PinTables, repositoryId: Id): Removal {
  const heads = [boardHead({ repositoryId, kind: 'issue' }), boardHead({ repositoryId, kind: 'pullRequest' })]
  const pins = heads.map((head) => boards().get(head)?.rows.length ?? 0).reduce((sum, count) => sum + count)

  return {
    removed: { pins },
    write() {
      for (const head of heads) boards().delete(head)
    },
  }
}

/**
 * Removes the issue from every board of its kind that has it, because a transfer to another repository needs no call.
 */
function removeIssue({ boards }: PinTables, kind: PinKind, issueId: Id): Removal {
  const found = [...boards()].filter(
    ([, board]) => board.kind === kind && board.rows.some((row) => row.issueId === issueId),
  )

  return {
    removed: { pins: found.length },
    write() {
      for (const [head, { rows }] of found) {
        boards().set(head, { kind, rows: rows.filter((row) => row.issueId !== issueId) })
      }
    },
  }
}

function positionOf({ boards }: PinTables, { issueId, ...key }: BoardIssue): number | undefined {
  const rows = boards().get(boardHead(key))?.rows ?? []
  const at = rows.findIndex((row) => row.issueId === issueId)
  return at < 0 ? undefined : at + 1
}

function pinBoard({ tables, boards }: PinTables, key: PinBoardKey): Aggregate<readonly PinRow[]> {
  const head = boardHead(key)
  return {
    alive: [[head, 'repository']],
    load: () => (boards().get(head)?.rows ?? []).map(copyPin),
    check(_before, after) {
      if (after.some((row) => tables.retiredIssues.has(row.issueId))) throw notFound('issue')
    },
    write: (_before, after) => boards().set(head, { kind: key.kind, rows: after.map(copyPin) }),
  }
}
