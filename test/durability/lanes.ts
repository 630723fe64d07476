import type { Actor, Services } from '../../src/index.ts'
import { isForgeError } from '../../src/index.ts'
import type { PinKind } from '../../src/schema/records.ts'
import type { ModelState } from '../model/model-state.ts'
import type { ReplayedState } from '../model/replay.ts'

/** The lanes of the churning child process; each works on things of its own. */
export const LANES: readonly string[] = ['pins10', 'pins11', 'blocks20', 'blocks21', 'badges30', 'badges31', 'leaving']

const KINDS: readonly PinKind[] = ['issue', 'pullRequest']

/** The board of an issue, by how the churning child makes ids: repository, 1 or 2 for the kind, and the rest. */
export function boardOf(issueId: string): string {
  return `${issueId.slice(0, 2)}/${issueId[2] === '2' ? 'pullRequest' : 'issue'}`
}

/** What a lane changed, as the forge has it. */
export async function actualLane(forge: Services<Actor>, lane: string, run: number): Promise<object> {
  const id = lane.slice(-2)
  if (lane.startsWith('pins')) return Promise.all(KINDS.map((kind) => issuesOn(forge, id, kind)))
  if (lane.startsWith('blocks')) return blockedBy(forge, id)

  const catalogue = await slugs(forge)
  if (lane.startsWith('badges')) {
    return [await heldBy(forge, id), catalogue.filter((slug) => slug.endsWith(`-of-${id}`)).sort()]
  }

  const held = await Promise.all(leavers(run).map((userId) => heldBy(forge, userId)))
  return [await blockedBy(forge, '22'), await blockedBy(forge, '23'), held, catalogue.filter(isShort).sort()]
}

/** What a lane changed, as a model has it. */
export function modelLane(state: ModelState, lane: string, run: number): object {
  const id = lane.slice(-2)
  if (lane.startsWith('pins')) return KINDS.map((kind) => state.board(id, kind).map((pin) => pin.issueId))
  const users = (organizationId: string) => state.blocksOf(organizationId).map((block) => block.userId)
  if (lane.startsWith('blocks')) return users(id)

  const catalogue = state.catalogue.map((badge) => badge.slug)
  const held = (userId: string) =>
    state.gone.has(`user ${userId}`) ? 'gone' : state.grantsOf(userId).map(({ badgeId }) => slugOf(state, badgeId))
  if (lane.startsWith('badges')) return [held(id), catalogue.filter((slug) => slug.endsWith(`-of-${id}`)).sort()]

  return [users('22'), users('23'), leavers(run).map(held), catalogue.filter(isShort).sort()]
}

/** The whole state as the forge has it, for the same names that the replayed events name, and all known ones. */
export async function actualState(
  forge: Services<Actor>,
  { boards, blocks, grants }: ReplayedState,
): Promise<ReplayedState> {
  const boardNames = [...boards.keys(), ...['10', '11'].flatMap((id) => KINDS.map((kind) => `${id}/${kind}`))]
  return {
    boards: await filled(boardNames, (name) => {
      const [repositoryId = '', kind] = name.split('/')
      return issuesOn(forge, repositoryId, kind === 'issue' ? 'issue' : 'pullRequest')
    }),
    blocks: await filled([...blocks.keys(), '20', '21', '22', '23'], (organizationId) =>
      blockedBy(forge, organizationId),
    ),
    grants: await filled([...grants.keys(), '30', '31'], (userId) => heldBy(forge, userId)),
    catalogue: await slugs(forge),
  }
}

async function filled<T extends readonly string[] | 'gone'>(
  names: readonly string[],
  read: (name: string) => Promise<T>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const lists = new Map<string, readonly string[]>()
  for (const name of names) {
    const items = await read(name)
    if (items !== 'gone' && items.length > 0) lists.set(name, items)
  }
  return lists
}

/** The first users of the leaving lane in a run. */
function leavers(run: number): readonly string[] {
  return Array.from({ length: 60 }, (_, n) => `5${100 + run}${n}`)
}

function isShort(slug: string): boolean {
  return slug.length === 1
}

function slugOf(state: ModelState, badgeId: string): string {
  return state.catalogue.find((badge) => badge.id === badgeId)?.slug ?? `badge ${badgeId} is gone`
}

async function issuesOn(forge: Services<Actor>, repositoryId: string, kind: PinKind): Promise<readonly string[]> {
  const pins = await forge.pins.list('system', { repositoryId, kind })
  return pins.map((pin) => pin.issueId)
}

async function blockedBy(forge: Services<Actor>, organizationId: string): Promise<readonly string[]> {
  const { items, total } = await forge.blocks.list('system', { organizationId, limit: 1000 })
  if (total !== items.length) throw new RangeError(`organization ${organizationId} counts ${total} of ${items.length}`)
  return items.map((block) => block.userId)
}

async function heldBy(forge: Services<Actor>, userId: string): Promise<readonly string[] | 'gone'> {
  try {
    return (await forge.badges.heldBy('system', userId)).map((grant) => grant.badge.slug)
  } catch (error) {
    if (isForgeError(error, 'USER_NOT_FOUND')) return 'gone'
    throw error
  }
}

async function slugs(forge: Services<Actor>): Promise<readonly string[]> {
  const { items } = await forge.badges.catalogue.list('system', { limit: 1000 })
  return items.map((badge) => badge.slug)
}
