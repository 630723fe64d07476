import type { Actor, Block, Forge, ForgeEvent, Page } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { Answer } from './answer.ts'
import { forgeAnswerOf } from './answer.ts'
import type { Step } from './step.ts'
import type { Who } from './world.ts'
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
    const answer = await forgeAnswerOf(() => this.#perform(step))
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

  #perform(step: Step): unknown {
    const { pins, blocks, badges, lifecycle } = this.forge
    const as = callerOf(step.as)
    switch (step.call) {
      case 'pin':
        return pins.pin(as, step.issue)
      case 'unpin':
        return pins.unpin(as, step.issue)
      case 'history':
        return pins.history(as, step.issue)
      case 'move':
        return pins.move(as, { issue: step.issue, position: step.position })
      case 'listPins':
        return pins.list(as, step)
      case 'allowed':
        return pins.allowed(as, step.repositoryId)
      case 'block':
        return blocks.block(as, step)
      case 'unblock':
        return blocks.unblock(as, step)
      case 'findBlock':
        return blocks.find(as, step)
      case 'listBlocks':
        return blocks.list(as, step)
      case 'walkBlocks':
        return this.#walk(step.organizationId, step.limit)
      case 'filterBlocked':
        return blocks.filterBlocked({ organizationId: step.organizationId, userIds: step.userIds })
      case 'grant':
        return badges.grant(as, { userId: step.userId, slugs: step.slugs })
      case 'revoke':
        return badges.revoke(as, { userId: step.userId, slugs: step.slugs })
      case 'heldBy':
        return badges.heldBy(as, step.userId)
      case 'define':
        return badges.catalogue.define(as, step)
      case 'update':
        return badges.catalogue.update(as, step)
      case 'remove':
        return badges.catalogue.remove(as, step.slug)
      case 'findBadge':
        return badges.catalogue.find(as, step.slug)
      case 'listBadges':
        return badges.catalogue.list(as, step)
      case 'userDeleted':
        return lifecycle.userDeleted(step.userId)
      case 'organizationDeleted':
        return lifecycle.organizationDeleted(step.organizationId)
      case 'repositoryDeleted':
        return lifecycle.repositoryDeleted(step.repositoryId)
      case 'issueDeleted':
        return lifecycle.issueDeleted(step.issue)
      case 'memberAdded':
        return this.#addMember(step)
      case 'memberRemoved':
        return void this.#members.delete(`${step.organizationId}/${step.userId}`)
      default:
        return step satisfies never
    }
  }

  async #addMember(member: { readonly organizationId: string; readonly userId: string }): Promise<void> {
    await this.forge.lifecycle.memberAdded(member)
    this.#members.add(`${member.organizationId}/${member.userId}`)
  }

  async #walk(organizationId: string, limit: number): Promise<readonly Block[]> {
    const all: Block[] = []
    let page: Page<Block> = await this.forge.blocks.list('system', { organizationId, limit })
    all.push(...page.items)
    for (let pages = 1; page.cursor !== undefined; pages++) {
      if (pages > MAX_PAGES) throw new RangeError('the walk over the blocks does not end')
      page = await this.forge.blocks.list('system', { organizationId, after: page.cursor, limit })
      all.push(...page.items)
    }
    return all
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

function callerOf(who: Who): Actor | 'anonymous' | 'system' {
  return who === 'anonymous' || who === 'system' ? who : { id: WHO_IDS[who] }
}
