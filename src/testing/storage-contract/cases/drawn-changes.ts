import type { Id } from '../../../index.ts'
import { assertNotBlocked } from '../../../index.ts'
import type { AggregateStores, ForgeStorage, PinBoardKey, Retired } from '../../../storage/storage.ts'
import type { Choices, Draw } from './draw.ts'
import type { Extras } from './sample-changes.ts'
import {
  block,
  change,
  define,
  grant,
  importIssues,
  move,
  NOON,
  pin,
  removeBadge,
  retire,
  revoke,
  unblock,
  unpin,
  update,
} from './sample-changes.ts'

/** The ids that drawn changes are about. No id is that of an issue and of a pull request. */
export interface Ids {
  readonly repositories: Choices<Id>
  readonly organizations: Choices<Id>
  readonly users: Choices<Id>
  readonly issues: Choices<Id>
  readonly pullRequests: Choices<Id>
}

/** One change, in words and as a call. */
export interface DrawnChange {
  readonly name: string
  run<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
}

type Run = <Tx>(storage: ForgeStorage<Tx>, extras: Extras<Tx>) => Promise<unknown>

/** Slugs that a database may take for the same. */
export const SLUGS: Choices<string> = ['owl', 'Owl', 'owl ', 'é', 'e\u0301', '🦉', '🦆']
const CONSUMERS: Choices<string> = ['mail', 'Mail']

const TEXTS: Choices<string> = ['', ' ', 'naïve 🦉 e\u0301', '0042', `quotes ' " \\ and\nlines`, 'null']
/** What a consumer does. */
const ACTS: Choices<string> = ['claim', 'advance', 'advance', 'advance', 'release', 'forget', 'forget']
const LEASE_MS = 3_600_000

/**
 * Draws the change of a step, with its author and its time. A part of the changes is refused by `beforeCommit`. The
 * result has what the change returned and the events that `beforeCommit` received.
 */
export function drawnChange(draw: Draw, ids: Ids, step: number): DrawnChange {
  const [name, kind] = DRAWN[draw.below(DRAWN.length)] ?? (['renew', renewal] as const)
  const [input, run] = kind(draw, ids)
  const time = NOON.getTime() + step * 1000 + draw.below(3000) - 1500
  const by = { actorId: draw.one<Id | null>([null, ...ids.users]), at: () => new Date(time) }
  const isRefused = draw.below(9) === 0
  return {
    name: `${name} ${JSON.stringify(input)}${isRefused ? ', refused before the commit' : ''}`,
    async run(storage) {
      const received: unknown[] = []
      const beforeCommit = (events: readonly object[]) => {
        received.push(...events.map((event) => ({ ...event, id: undefined })))
        if (isRefused) throw new Error('refused before the commit')
      }
      return { result: await run(storage, { by, beforeCommit }), received }
    },
  }
}

/** Draws what a change needs, and returns its input, for its name, and the change. */
type Kind = (draw: Draw, ids: Ids) => readonly [input: unknown, run: Run]

/** Every kind of change, by the store that it changes. */
const KINDS: Readonly<Record<keyof AggregateStores<unknown> | 'others', Readonly<Record<string, Kind>>>> = {
  pinBoards: {
    pin(draw, ids) {
      const [board, issueId] = placeOn(draw, ids)
      const limit = 3 + draw.below(3)
      return [{ board, issueId, limit }, (to, extras) => pin(to, board, issueId, { ...extras, limit })]
    },
    unpin(draw, ids) {
      const [board, issueId] = placeOn(draw, ids)
      return [{ board, issueId }, (to, extras) => unpin(to, board, issueId, extras)]
    },
    move(draw, ids) {
      const place = [...placeOn(draw, ids), 1 + draw.below(4)] as const
      return [place, (to, extras) => move(to, place, extras)]
    },
    renew: renewal,
  },
  blocks: {
    block(draw, ids) {
      const [organizationId, userId, note] = [draw.one(ids.organizations), draw.one(ids.users), draw.one(TEXTS)]
      const input = { organizationId, userId, note }
      return [input, (to, extras) => block(to, organizationId, userId, { ...extras, note })]
    },
    unblock(draw, ids) {
      const key = { organizationId: draw.one(ids.organizations), userId: draw.one(ids.users) }
      return [key, (to, extras) => unblock(to, key.organizationId, key.userId, extras)]
    },
    admit(draw, ids) {
      const key = { organizationId: draw.one(ids.organizations), userId: draw.one(ids.users) }
      const admit: Run = (to, extras) =>
        change(
          to.blocks,
          key,
          (state) => {
            assertNotBlocked(state.block)
            return { state: { ...state, epoch: state.epoch + 1 }, events: [], result: undefined }
          },
          extras,
        )
      return [key, admit]
    },
  },
  badgeCatalogue: {
    define(draw) {
      const [slug, texts] = [draw.one(SLUGS), { description: draw.one(TEXTS), imageUrl: draw.one(TEXTS) }]
      return [{ slug, ...texts }, (to, extras) => define(to, slug, { ...extras, ...texts })]
    },
    update(draw) {
      const [slug, texts] = [draw.one(SLUGS), { description: draw.one(TEXTS), imageUrl: draw.one(TEXTS) }]
      return [{ slug, ...texts }, (to, extras) => update(to, slug, { ...extras, ...texts })]
    },
    remove(draw) {
      const slug = draw.one(SLUGS)
      return [slug, (to, extras) => removeBadge(to, slug, extras)]
    },
  },
  userBadges: {
    grant(draw, ids) {
      const [userId, slugs] = [draw.one(ids.users), draw.some(SLUGS)]
      return [{ userId, slugs }, (to, extras) => grant(to, userId, slugs, extras)]
    },
    revoke(draw, ids) {
      const [userId, slugs] = [draw.one(ids.users), draw.some(SLUGS)]
      return [{ userId, slugs }, (to, extras) => revoke(to, userId, slugs, extras)]
    },
  },
  issueImports: {
    import(draw, ids) {
      const repositoryId = draw.one(ids.repositories)
      return [repositoryId, (to, extras) => importIssues(to, repositoryId, extras)]
    },
  },
  others: {
    retire: retirement,
    consume: consumption,
    prune(draw) {
      const before = new Date(NOON.getTime() + draw.below(120) * 1000)
      const forgotten = draw.some(CONSUMERS)
      const prune: Run = async ({ events }) => {
        for (const name of forgotten) await events.forget(name)
        return events.prune(before)
      }
      return [{ before, forgotten }, prune]
    },
  },
}

/** How often each kind is drawn, of the sum of all. */
const SHARES: Readonly<Record<string, number>> = {
  pin: 22,
  unpin: 5,
  move: 8,
  renew: 4,
  block: 12,
  unblock: 5,
  admit: 2,
  define: 7,
  update: 3,
  remove: 3,
  grant: 10,
  revoke: 4,
  import: 3,
  retire: 4,
  consume: 4,
  prune: 4,
}

/** All kinds with their names, each as often as its share. */
const DRAWN: readonly (readonly [name: string, kind: Kind])[] = Object.values(KINDS)
  .flatMap((kinds) => Object.entries(kinds))
  .flatMap(([name, kind]) => Array.from({ length: SHARES[name] ?? 1 }, () => [name, kind] as const))

/** Draws a board, and an issue or a pull request for it. */
function placeOn(draw: Draw, ids: Ids): readonly [PinBoardKey, Id] {
  const repositoryId = draw.one(ids.repositories)
  if (draw.below(4) === 0) return [{ repositoryId, kind: 'pullRequest' }, draw.one(ids.pullRequests)]
  return [{ repositoryId, kind: 'issue' }, draw.one(ids.issues)]
}

/** Gives every pin of a board another author and another time, or reverses the board. */
function renewal(draw: Draw, ids: Ids): ReturnType<Kind> {
  const [board] = placeOn(draw, ids)
  const [pinnedAt, pinnedBy, reverses] = [new Date(draw.below(60_000)), draw.one(ids.users), draw.below(3) === 0]
  const run: Run = (to, extras) =>
    change(
      to.pinBoards,
      board,
      (rows) => ({
        state: reverses ? rows.toReversed() : rows.map((row) => ({ ...row, pinnedAt, pinnedBy })),
        events: [],
        result: undefined,
      }),
      extras,
    )
  return [{ board, pinnedAt, pinnedBy, reverses }, run]
}

/** Retires something, or retires it twice. */
function retirement(draw: Draw, ids: Ids): ReturnType<Kind> {
  const [board, issueId] = placeOn(draw, ids)
  const { repositoryId } = board
  const retired = draw.one<Retired>([
    { thing: 'issue', issueId, ...board },
    { thing: 'issue', issueId, ...board },
    { thing: 'issue', issueId, ...board },
    { thing: 'user', userId: draw.one(ids.users) },
    { thing: 'user', userId: draw.one(ids.users) },
    { thing: 'organization', organizationId: draw.one(ids.organizations) },
    { thing: 'repository', repositoryId },
  ])
  const times = 1 + draw.below(2)
  const run: Run = async (to, extras) => {
    const events: unknown[] = []
    for (let time = 0; time < times; time += 1) events.push(await retire(to, retired, extras))
    return events
  }
  return [{ ...retired, times }, run]
}

/** Claims or forgets a consumer, or moves its cursor. */
function consumption(draw: Draw): ReturnType<Kind> {
  const consumer = { name: draw.one(CONSUMERS), holder: draw.one(['one', 'one', 'other']) }
  const [limit, act] = [1 + draw.below(30), draw.one(ACTS)]
  const run: Run = async ({ events }) => {
    const claim = act === 'forget' ? await events.forget(consumer.name) : await events.claim(consumer, LEASE_MS)
    if (act === 'release') await events.release(consumer)
    if (act !== 'advance' || typeof claim !== 'object') return claim

    const { cursor } = await events.read({ after: claim.cursor, limit })
    return [claim, await events.advance(consumer, cursor)]
  }
  return [{ act, ...consumer, limit }, run]
}
