import assert from 'node:assert/strict'
import type { Decision, EventDraft, ForgeEvent, Id } from '../../../index.ts'
import { ForgeError } from '../../../index.ts'
import type {
  AggregateStore,
  Authorship,
  BeforeCommit,
  ForgeStorage,
  Outcome,
  PinBoardKey,
  Removed,
  Retired,
  Retirement,
} from '../../../storage/storage.ts'

/** The optional parts of a sample change, besides its decision. */
export interface Extras<Tx> {
  readonly seen?: number | undefined
  readonly by?: Authorship
  readonly beforeCommit?: BeforeCommit<Tx> | undefined
  readonly raisesEpoch?: true | undefined
  readonly signal?: AbortSignal | undefined
  readonly spentMilliseconds?: number | undefined
  readonly transaction?: Tx | undefined
}

/** The default time of a sample change. */
export const NOON: Date = new Date('2024-05-06T12:00:00.123Z')

/** The default author of a sample change. */
export const AUTHOR: Authorship = { actorId: '7', at: () => new Date(NOON) }

/** The subject fields of an event that concerns no subject of the host. */
export const NO_SUBJECT = { organizationId: null, repositoryId: null, issueId: null, userId: null } as const

/** The board of issues that most cases use. */
export const BOARD: PinBoardKey = { repositoryId: '10', kind: 'issue' }

/** Makes one change of one aggregate. If the call throws synchronously, the promise rejects. */
export async function change<Key, State, Result, Tx>(
  store: AggregateStore<Key, State, Tx>,
  key: Key,
  decide: (state: State, at: Date) => Decision<State, Result, EventDraft>,
  extras: Extras<Tx> = {},
): Promise<Outcome<Result>> {
  return store.update(key, { expectedEpoch: extras.seen, decide, by: AUTHOR, ...extras })
}

/** Returns the result and the events of a change, which must not be stale. */
export function done<Result>(outcome: Outcome<Result>): {
  readonly result: Result
  readonly events: readonly ForgeEvent[]
} {
  assert.equal(outcome.stale, false, 'the change is not stale')
  return outcome
}

/**
 * Pins an issue at the end of a board, unless it is pinned already. Refuses a pin above the limit. Returns the 1-based
 * position.
 */
export async function pin<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueId: Id,
  extras: Extras<Tx> & { readonly limit?: number } = {},
): Promise<number> {
  const { limit = Number.POSITIVE_INFINITY, ...rest } = extras
  const outcome = await change(
    storage.pinBoards,
    board,
    (rows) => {
      const at = rows.findIndex((row) => row.issueId === issueId)
      if (at >= 0) return { state: rows, events: [], result: at + 1 }
      if (rows.length >= limit) throw new ForgeError('PIN_LIMIT_REACHED', 'full', { kind: board.kind, limit })

      const position = rows.length + 1
      return {
        state: [...rows, { issueId, pinnedAt: new Date(NOON), pinnedBy: '7' }],
        events: [
          { ...NO_SUBJECT, type: 'issue.pinned', data: { position }, repositoryId: board.repositoryId, issueId },
        ],
        result: position,
      }
    },
    rest,
  )
  return done(outcome).result
}

/** Unpins an issue, if it is pinned. */
export async function unpin<Tx>(storage: ForgeStorage<Tx>, board: PinBoardKey, issueId: Id): Promise<void> {
  const outcome = await change(storage.pinBoards, board, (rows) => {
    const at = rows.findIndex((row) => row.issueId === issueId)
    if (at < 0) return { state: rows, events: [], result: undefined }

    return {
      state: rows.filter((row) => row.issueId !== issueId),
      events: [
        {
          ...NO_SUBJECT,
          type: 'issue.unpinned',
          data: { position: at + 1 },
          repositoryId: board.repositoryId,
          issueId,
        },
      ],
      result: undefined,
    }
  })
  done(outcome)
}

/** Moves an issue to the front of its board, if it is pinned. */
export async function moveToFront<Tx>(storage: ForgeStorage<Tx>, board: PinBoardKey, issueId: Id): Promise<void> {
  const outcome = await change(storage.pinBoards, board, (rows) => {
    const from = rows.findIndex((row) => row.issueId === issueId) + 1
    if (from === 0) return { state: rows, events: [], result: undefined }

    const others = rows.filter((row) => row.issueId !== issueId)
    return {
      state: [...rows.filter((row) => row.issueId === issueId), ...others],
      events: [
        { ...NO_SUBJECT, type: 'issue.moved', data: { from, to: 1 }, repositoryId: board.repositoryId, issueId },
      ],
      result: undefined,
    }
  })
  done(outcome)
}

/** Blocks a user in an organization. The user must not be blocked yet. */
export async function block<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  extras: Extras<Tx> & { readonly note?: string } = {},
): Promise<void> {
  const { note = '', ...rest } = extras
  const outcome = await change(
    storage.blocks,
    { organizationId, userId },
    (before) => {
      if (before !== undefined) throw new ForgeError('ALREADY_BLOCKED', 'blocked')

      return {
        state: { organizationId, userId, note, blockedAt: new Date(NOON), blockedBy: '7' },
        events: [{ ...NO_SUBJECT, type: 'user.blocked', data: { note }, organizationId, userId }],
        result: undefined,
      }
    },
    rest,
  )
  done(outcome)
}

/** Removes a block, if it exists. */
export async function unblock<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  const outcome = await change(
    storage.blocks,
    { organizationId, userId },
    (before) => {
      if (before === undefined) return { state: before, events: [], result: undefined }

      return {
        state: undefined,
        events: [{ ...NO_SUBJECT, type: 'user.unblocked', data: {}, organizationId, userId }],
        result: undefined,
      }
    },
    extras,
  )
  done(outcome)
}

/** Defines a badge and returns its id. */
export async function define<Tx>(
  storage: ForgeStorage<Tx>,
  slug: string,
  extras: Extras<Tx> & { readonly description?: string } = {},
): Promise<Id> {
  const { description = '', ...rest } = extras
  const outcome = await change(
    storage.badgeCatalogue,
    { slug },
    (entry) => {
      if (entry.badge !== undefined) throw new ForgeError('BADGE_EXISTS', 'exists', { slug })

      return {
        state: { ...entry, badge: { id: entry.nextId, slug, description, imageUrl: '' } },
        events: [{ ...NO_SUBJECT, type: 'badge.defined', data: { slug } }],
        result: entry.nextId,
      }
    },
    rest,
  )
  return done(outcome).result
}

/** Removes a definition from the catalogue. */
export async function removeBadge<Tx>(storage: ForgeStorage<Tx>, slug: string): Promise<void> {
  const outcome = await change(storage.badgeCatalogue, { slug }, (entry) => ({
    state: { ...entry, badge: undefined },
    events: [{ ...NO_SUBJECT, type: 'badge.removed', data: { slug } }],
    result: undefined,
  }))
  done(outcome)
}

/** Grants defined badges. Badges that the user already holds are skipped. */
export async function grant<Tx>(
  storage: ForgeStorage<Tx>,
  userId: Id,
  slugs: readonly string[],
  extras: Extras<Tx> = {},
): Promise<void> {
  const outcome = await change(
    storage.userBadges,
    { userId, slugs },
    ({ known, held }) => {
      const added = slugs
        .flatMap((slug) => known.filter((badge) => badge.slug === slug))
        .filter((badge) => held.every((one) => one.badge.slug !== badge.slug))
      if (added.length === 0) return { state: { known, held }, events: [], result: undefined }

      return {
        state: {
          known,
          held: [...held, ...added.map((badge) => ({ badge, grantedAt: new Date(NOON), grantedBy: '7' }))],
        },
        events: added.map(({ slug }) => ({ ...NO_SUBJECT, type: 'badge.granted' as const, data: { slug }, userId })),
        result: undefined,
      }
    },
    extras,
  )
  done(outcome)
}

/** Revokes badges that the user holds. */
export async function revoke<Tx>(storage: ForgeStorage<Tx>, userId: Id, slugs: readonly string[]): Promise<void> {
  const outcome = await change(storage.userBadges, { userId, slugs }, ({ known, held }) => ({
    state: { known, held: [] },
    events: held.map(({ badge }) => ({
      ...NO_SUBJECT,
      type: 'badge.revoked' as const,
      data: { slug: badge.slug },
      userId,
    })),
    result: undefined,
  }))
  done(outcome)
}

/** Imports one issue. Its row would be in the tables of the host. */
export async function importIssues<Tx>(
  storage: ForgeStorage<Tx>,
  repositoryId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  const data = { created: 1, updated: 0, comments: 0 }
  const outcome = await change(
    storage.issueImports,
    { repositoryId },
    (state) => ({
      state,
      events: [{ ...NO_SUBJECT, type: 'issues.imported', data, repositoryId }],
      result: undefined,
    }),
    extras,
  )
  done(outcome)
}

/** Retires a subject with the event that the lifecycle service emits. Returns the events. */
export async function retire<Tx>(
  storage: ForgeStorage<Tx>,
  retired: Retired,
  extras: Partial<Retirement<Tx>> = {},
): Promise<readonly ForgeEvent[]> {
  return storage.retire({ retired, by: AUTHOR, record: (removed) => retirementEvent(retired, removed), ...extras })
}

function retirementEvent(retired: Retired, removed: Removed): EventDraft {
  if (retired.thing === 'user') {
    const { blocks, grants } = removed
    return { ...NO_SUBJECT, type: 'user.deleted', data: { blocks, grants }, userId: retired.userId }
  }
  if (retired.thing === 'organization') {
    const { organizationId } = retired
    return { ...NO_SUBJECT, type: 'organization.deleted', data: { blocks: removed.blocks }, organizationId }
  }
  const { repositoryId } = retired
  if (retired.thing === 'repository') {
    return { ...NO_SUBJECT, type: 'repository.deleted', data: { pins: removed.pins }, repositoryId }
  }

  const data = { wasPinned: removed.pins > 0 }
  return { ...NO_SUBJECT, type: 'issue.deleted', data, repositoryId, issueId: retired.issueId }
}
