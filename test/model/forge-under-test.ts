import type { Actor, Block, Caller, Forge, ForgeEvent } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { Answer } from './answer.ts'
import { forgeAnswerOf } from './answer.ts'
import type { Call, Inputs, Step, StepOf } from './step.ts'
import { MAX_PINS, momentOf, WHO_IDS } from './world.ts'

const MAX_PAGES = 100
const MAX_EVENTS = 1_000_000

/** A real forge that takes the model's steps, and gives answers in the model's form. */
export class ForgeUnderTest<Tx> {
  readonly forge: Forge<Actor, Tx>
  /** What the listeners of this process received. */
  readonly received: ForgeEvent[] = []
  readonly #storage: ForgeStorage<Tx>
  readonly #members = new Set<string>()
  readonly #ordinals = new Map<string, string>()
  #now = new Date(0)

  constructor(storage: ForgeStorage<Tx>) {
    this.#storage = storage
    this.forge = createForge<Actor, Tx>({
      storage,
      policy: {
        authorize: (_request, { actor }) => {
          if (actor === 'anonymous') return { allow: false, reason: 'who?' }
          if (actor.id === WHO_IDS.owner) return { allow: true }
          return { allow: false, reason: 'no', conceal: actor.id === WHO_IDS.outsider }
        },
      },
      membership: { isMember: ({ organizationId, userId }) => this.#members.has(`${organizationId}/${userId}`) },
      limits: { maxPins: MAX_PINS },
      clock: { now: () => new Date(this.#now) },
    })
    this.forge.events.on((event) => this.received.push(event))
  }

  /** Makes the tables. */
  async migrate(): Promise<void> {
    await this.#storage.migrate()
  }

  /** Takes one step. */
  async take(step: Step, index: number): Promise<Answer> {
    this.#now = momentOf(index)
    const answer = await forgeAnswerOf(() => perform({ ...this.forge, members: this.#members }, step))
    return 'value' in answer ? { value: this.comparable(answer.value) } : answer
  }

  /** A value in a form that can be compared: badge ids by order of their first appearance, no cursors, no event ids. */
  comparable(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.comparable(one))
    if (value instanceof Set) return [...value].sort()
    if (typeof value !== 'object' || value === null || value instanceof Date) return value

    const entries = Object.entries(value).map(([key, inner]) => [key, this.comparable(inner)] as const)
    const { version, cursor, id, ...rest } = Object.fromEntries(entries)
    if ('imageUrl' in rest) return { ...rest, id: this.#ordinalOf(String(id)) }
    if ('items' in rest) return { ...rest, more: cursor !== undefined }
    return version === undefined ? Object.fromEntries(entries) : rest
  }

  #ordinalOf(badgeId: string): string {
    const known = this.#ordinals.get(badgeId) ?? String(this.#ordinals.size + 1)
    this.#ordinals.set(badgeId, known)
    return known
  }

  /** Every event of the outbox. */
  async events(): Promise<readonly ForgeEvent[]> {
    const all: ForgeEvent[] = []
    let after: string | undefined
    for (;;) {
      const { events, cursor } = await this.forge.events.read({ after, limit: 1000 })
      if (events.length === 0) return all
      all.push(...events)
      if (all.length > MAX_EVENTS) throw new RangeError('the outbox does not end')
      after = cursor
    }
  }
}

/** How a forge takes each step. */
const CALLS: { readonly [C in Call]: (subject: Subject, as: Caller<Actor>, input: Inputs[C]) => unknown } = {
  pin: ({ pins }, as, issue) => pins.pin(as, issue),
  unpin: ({ pins }, as, issue) => pins.unpin(as, issue),
  move: ({ pins }, as, move) => pins.move(as, move),
  listPins: ({ pins }, as, board) => pins.list(as, board),
  allowed: ({ pins }, as, repositoryId) => pins.allowed(as, repositoryId),
  history: ({ pins }, as, issue) => pins.history(as, issue),
  block: ({ blocks }, as, target) => blocks.block(as, target),
  unblock: ({ blocks }, as, target) => blocks.unblock(as, target),
  findBlock: ({ blocks }, as, member) => blocks.find(as, member),
  listBlocks: ({ blocks }, as, page) => blocks.list(as, page),
  async walkBlocks({ blocks }, as, walk) {
    const all: Block[] = []
    let after: string | undefined
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const { items, cursor } = await blocks.list(as, { ...walk, after })
      all.push(...items)
      if (cursor === undefined) return all
      after = cursor
    }
    throw new RangeError('the walk over the blocks does not end')
  },
  filterBlocked: ({ blocks }, _as, asked) => blocks.filterBlocked(asked),
  refuseBlocked: ({ blocks }, _as, asked) => blocks.refuseBlocked(asked),
  grant: ({ badges }, as, grants) => badges.grant(as, grants),
  revoke: ({ badges }, as, grants) => badges.revoke(as, grants),
  heldBy: ({ badges }, as, userId) => badges.heldBy(as, userId),
  define: ({ badges }, as, definition) => badges.catalogue.define(as, definition),
  update: ({ badges }, as, definition) => badges.catalogue.update(as, definition),
  remove: ({ badges }, as, slug) => badges.catalogue.remove(as, slug),
  findBadge: ({ badges }, as, slug) => badges.catalogue.find(as, slug),
  listBadges: ({ badges }, as, page) => badges.catalogue.list(as, page),
  userDeleted: ({ lifecycle }, _as, userId) => lifecycle.userDeleted(userId),
  organizationDeleted: ({ lifecycle }, _as, organizationId) => lifecycle.organizationDeleted(organizationId),
  repositoryDeleted: ({ lifecycle }, _as, repositoryId) => lifecycle.repositoryDeleted(repositoryId),
  issueDeleted: ({ lifecycle }, _as, issue) => lifecycle.issueDeleted(issue),
  async memberAdded({ lifecycle, members }, _as, member) {
    await lifecycle.memberAdded(member)
    members.add(`${member.organizationId}/${member.userId}`)
  },
  memberRemoved: ({ members }, _as, { organizationId, userId }) => void members.delete(`${organizationId}/${userId}`),
}

/** The services of a forge, and the members that its host has. */
interface Subject extends Pick<Forge, 'pins' | 'blocks' | 'badges' | 'lifecycle'> {
  readonly members: Set<string>
}

function perform<C extends Call>(subject: Subject, { call, as, input }: StepOf<C>): unknown {
  return CALLS[call](subject, as === 'anonymous' || as === 'system' ? as : { id: WHO_IDS[as] }, input)
}
