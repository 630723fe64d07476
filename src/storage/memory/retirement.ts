import type { ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Removed, Retired, Retirement } from '../contract/storage.ts'
import type { PinBoardKey } from '../contract/stores.ts'
import { append, complete } from './aggregate.ts'
import type { MemoryTables } from './memory-tables.ts'
import { boardHead } from './pin-boards.ts'

/** The effect of one retirement on the tables. */
interface Removal {
  /** Whether the thing was already retired. */
  readonly before: boolean
  readonly removed: Removed
  write(): void
}

const NOTHING: Removed = { pins: 0, blocks: 0, grants: 0 }

/** Retires one thing of the host in a memory storage. */
export function retire(tables: MemoryTables, retirement: Retirement<undefined>): readonly ForgeEvent[] {
  const removal = removalOf(tables, retirement.retired)
  if (removal.before) return []

  const { by, record } = retirement
  const events = complete(tables, [record(removal.removed)], by.actorId, by.at())
  return append(tables, events, retirement, () => removal.write())
}

function removalOf(tables: MemoryTables, retired: Retired): Removal {
  switch (retired.thing) {
    case 'user':
      return userRemoval(tables, retired.userId)
    case 'organization':
      return organizationRemoval(tables, retired.organizationId)
    case 'repository':
      return repositoryRemoval(tables, retired.repositoryId)
    case 'issue':
      return issueRemoval(tables, retired, retired.issueId)
    default:
      return retired satisfies never
  }
}

function userRemoval(tables: MemoryTables, userId: Id): Removal {
  const blockers = [...tables.blocks].filter(([, blocks]) => blocks.has(userId))

  return {
    before: tables.head(`user ${userId}`).retired,
    removed: { ...NOTHING, blocks: blockers.length, grants: tables.grants.get(userId)?.length ?? 0 },
    write() {
      tables.retire(`user ${userId}`)
      tables.grants.delete(userId)
      for (const [organizationId, blocks] of blockers) {
        tables.raise(`organization ${organizationId}`)
        blocks.delete(userId)
      }
    },
  }
}

function organizationRemoval(tables: MemoryTables, organizationId: Id): Removal {
  return {
    before: tables.head(`organization ${organizationId}`).retired,
    removed: { ...NOTHING, blocks: tables.blocks.get(organizationId)?.size ?? 0 },
    write() {
      tables.retire(`organization ${organizationId}`)
      tables.blocks.delete(organizationId)
    },
  }
}

function repositoryRemoval(tables: MemoryTables, repositoryId: Id): Removal {
  const heads = [boardHead({ repositoryId, kind: 'issue' }), boardHead({ repositoryId, kind: 'pullRequest' })]
  const pins = heads.map((head) => tables.boards.get(head)?.rows.length ?? 0).reduce((sum, count) => sum + count)

  return {
    before: heads.every((head) => tables.head(head).retired),
    removed: { ...NOTHING, pins },
    write() {
      for (const head of heads) {
        tables.retire(head)
        tables.boards.delete(head)
      }
    },
  }
}

/**
 * Removes the issue from every board of its kind that has it, because a transfer to another repository needs no call.
 */
function issueRemoval(tables: MemoryTables, key: PinBoardKey, issueId: Id): Removal {
  const boards = [...tables.boards].filter(
    ([, board]) => board.kind === key.kind && board.rows.some((row) => row.issueId === issueId),
  )

  return {
    before: tables.retiredIssues.has(issueId),
    removed: { ...NOTHING, pins: boards.length },
    write() {
      tables.retiredIssues.add(issueId)
      for (const head of new Set([boardHead(key), ...boards.map(([head]) => head)])) tables.raise(head)
      for (const [head, { kind, rows }] of boards) {
        tables.boards.set(head, { kind, rows: rows.filter((row) => row.issueId !== issueId) })
      }
    },
  }
}
