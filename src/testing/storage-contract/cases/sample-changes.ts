import type { Decision, EventDraft, ForgeEvent, Id, RuleEvent } from '../../../index.ts'
import * as rules from '../../../index.ts'
import type {
  AggregateStore,
  Authorship,
  BeforeCommit,
  BlockState,
  ForgeStorage,
  Outcome,
  PinBoardKey,
  Removed,
  Retired,
  Retirement,
} from '../../../storage/storage.ts'

/** The optional parts of a sample change, besides its decision. */
export interface Extras<Tx> {
  readonly by?: Authorship
  readonly beforeCommit?: BeforeCommit<Tx> | undefined
  readonly signal?: AbortSignal | undefined
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
  return store.update(key, { decide, by: AUTHOR, ...extras })
}

/** Decides to leave a state as it is, and returns a copy of it. */
export function left<State>(state: State): { state: State; events: []; result: State } {
  return { state, events: [], result: structuredClone(state) }
}

/**
 * Pins an issue at the end of a board, unless it is pinned already. Refuses a pin above the limit. Returns the 1-based
 * position.
 */
export async function pin<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueId: Id,
  { limit = Number.POSITIVE_INFINITY, ...extras }: Extras<Tx> & { readonly limit?: number } = {},
): Promise<number> {
  const rule = (issues: readonly Id[]) => rules.pinIssue(issues, issueId, limit, board.kind)
  return (await arranged(storage, board, issueId, rule, extras)).position
}

/** Unpins an issue, if it is pinned. */
export async function unpin<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  await arranged(storage, board, issueId, (issues) => rules.unpinIssue(issues, issueId), extras)
}

/** Moves a pinned issue to a 1-based position, and returns the position. */
export async function move<Tx>(
  storage: ForgeStorage<Tx>,
  [board, issueId, position]: readonly [PinBoardKey, Id, number],
  extras: Extras<Tx> = {},
): Promise<number> {
  const rule = (issues: readonly Id[]) => rules.movePin(issues, issueId, position)
  return (await arranged(storage, board, issueId, rule, extras)).position
}

/** Moves an issue to the front of its board, if it is pinned. */
export async function moveToFront<Tx>(storage: ForgeStorage<Tx>, board: PinBoardKey, issueId: Id): Promise<void> {
  const rule = (issues: readonly Id[]) =>
    issues.includes(issueId) ? rules.movePin(issues, issueId, 1) : { state: issues, events: [], result: undefined }
  await arranged<Tx, unknown>(storage, board, issueId, rule, {})
}

/** Changes the order of a board by a rule. New pins get the time and the author of the change. */
async function arranged<Tx, Result>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueId: Id,
  rule: (issues: readonly Id[]) => Decision<readonly Id[], Result>,
  extras: Extras<Tx>,
): Promise<Result> {
  const { actorId: pinnedBy } = extras.by ?? AUTHOR
  const outcome = await change(
    storage.pinBoards,
    board,
    (rows, at) => {
      const issues = rows.map((row) => row.issueId)
      const { state, events, result } = rule(issues)
      const rowOf = (id: Id) => rows.find((row) => row.issueId === id) ?? { issueId: id, pinnedAt: at, pinnedBy }
      return {
        state: state === issues ? rows : state.map(rowOf),
        events: about({ repositoryId: board.repositoryId, issueId }, events),
        result,
      }
    },
    extras,
  )
  return outcome.result
}

/** Blocks a user in an organization. The user must not be blocked yet. */
export async function block<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  { note = '', ...extras }: Extras<Tx> & { readonly note?: string } = {},
): Promise<void> {
  const key = { organizationId, userId }
  const { actorId: blockedBy } = extras.by ?? AUTHOR
  await change(
    storage.blocks,
    key,
    (before, at) => {
      const { state, events } = rules.blockUser(before.block, { ...key, note, blockedAt: at, blockedBy }, false)
      return { state: { ...before, block: state }, events: about(key, events), result: undefined }
    },
    extras,
  )
}

/** Removes a block, if it exists. */
export async function unblock<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  const key = { organizationId, userId }
  await change<typeof key, BlockState, unknown, Tx>(
    storage.blocks,
    key,
    (before) => {
      if (before.block === undefined) return left(before)

      const { state, events } = rules.unblockUser(before.block)
      return { state: { ...before, block: state }, events: about(key, events), result: undefined }
    },
    extras,
  )
}

/** Defines a badge and returns its id. */
export async function define<Tx>(
  storage: ForgeStorage<Tx>,
  slug: string,
  { description = '', imageUrl = '', ...extras }: Extras<Tx> & Partial<rules.BadgeDefinition> = {},
): Promise<Id> {
  const outcome = await change(
    storage.badgeCatalogue,
    { slug },
    (entry) => aboutNothing(rules.defineBadge(entry, { slug, description, imageUrl })),
    extras,
  )
  return outcome.result.id
}

/** Changes a definition. */
export async function update<Tx>(
  storage: ForgeStorage<Tx>,
  slug: string,
  { description, imageUrl, ...extras }: Extras<Tx> & Partial<rules.BadgeDefinition>,
): Promise<rules.Badge> {
  const outcome = await change(
    storage.badgeCatalogue,
    { slug },
    (entry) => aboutNothing(rules.updateBadge(entry, slug, { description, imageUrl })),
    extras,
  )
  return outcome.result
}

/** Removes a definition that no user holds from the catalogue. */
export async function removeBadge<Tx>(storage: ForgeStorage<Tx>, slug: string, extras: Extras<Tx> = {}): Promise<void> {
  await change(storage.badgeCatalogue, { slug }, (entry) => aboutNothing(rules.removeBadge(entry, slug)), extras)
}

/** Grants those of the badges that are defined. Badges that the user already holds are skipped. */
export async function grant<Tx>(
  storage: ForgeStorage<Tx>,
  userId: Id,
  slugs: readonly string[],
  extras: Extras<Tx> = {},
): Promise<void> {
  await held(storage, userId, slugs, rules.grantBadges, extras)
}

/** Revokes badges that the user holds. */
export async function revoke<Tx>(
  storage: ForgeStorage<Tx>,
  userId: Id,
  slugs: readonly string[],
  extras: Extras<Tx> = {},
): Promise<void> {
  await held(storage, userId, slugs, rules.revokeBadges, extras)
}

/** Changes the badges of a user by a rule, for the slugs that are defined. */
async function held<Tx>(
  storage: ForgeStorage<Tx>,
  userId: Id,
  slugs: readonly string[],
  rule: typeof rules.grantBadges,
  extras: Extras<Tx>,
): Promise<void> {
  const { actorId: grantedBy } = extras.by ?? AUTHOR
  await change(
    storage.userBadges,
    { userId, slugs },
    (before, at) => {
      const known = before.known.map(({ slug }) => slug)
      const holds = { known, held: before.held.map(({ badge }) => badge.slug) }
      const { state, events } = rule(
        holds,
        slugs.filter((slug) => known.includes(slug)),
      )
      if (state === holds) return { state: before, events: [], result: undefined }

      const grants = state.held.flatMap((slug) => {
        const kept = before.held.filter(({ badge }) => badge.slug === slug)
        const added = before.known.filter((badge) => badge.slug === slug)
        return kept.length > 0 ? kept : added.map((badge) => ({ badge, grantedAt: at, grantedBy }))
      })
      return { state: { known: before.known, held: grants }, events: about({ userId }, events), result: undefined }
    },
    extras,
  )
}

/** Imports one issue. Its row would be in the tables of the host. */
export async function importIssues<Tx>(
  storage: ForgeStorage<Tx>,
  repositoryId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  const data = { created: 1, updated: 0, comments: 0 }
  const events = about({ repositoryId }, [{ type: 'issues.imported', data }])
  await change(storage.issueImports, { repositoryId }, (state) => ({ state, events, result: undefined }), extras)
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

function aboutNothing<State, Result>({ state, events, result }: Decision<State, Result>) {
  return { state, events: about({}, events), result }
}

/** Adds the subject to the events of a rule. */
function about(subject: Partial<rules.EventSubject>, events: readonly RuleEvent[]): readonly EventDraft[] {
  return events.map((event) => ({ ...NO_SUBJECT, ...subject, ...event }))
}
