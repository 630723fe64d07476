import type { ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Badge, Block, PinKind } from '../../schema/records.ts'
import type { PinRow } from '../contract/pin-board-store.ts'

/** What locks one aggregate; in memory it only counts. */
export interface Head {
  readonly epoch: number
  readonly retired: boolean
}

/** Names one head. */
export type HeadKey = `user ${Id}` | `organization ${Id}` | `board ${PinKind} ${Id}` | 'catalogue'

/** One block and its place in order of blocking. */
export interface PlacedBlock {
  readonly place: number
  readonly block: Block
}

/** One grant as it is kept: the badge by id, since its definition may change. */
export interface GrantRow {
  readonly badgeId: Id
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** Everything a memory storage keeps. Lists and rows are replaced, never changed in place. */
export class MemoryTables {
  readonly boards: Map<HeadKey, readonly PinRow[]> = new Map()
  readonly blocks: Map<Id, readonly PlacedBlock[]> = new Map()
  readonly grants: Map<Id, readonly GrantRow[]> = new Map()
  readonly badges: Map<string, Badge> = new Map()
  readonly retiredIssues: Set<Id> = new Set()
  readonly events: ForgeEvent[] = []
  readonly #heads = new Map<HeadKey, Head>()
  #lastPlace = 0
  #lastBadge = 0
  #exclusive = false

  head(key: HeadKey): Head {
    return this.#heads.get(key) ?? { epoch: 0, retired: false }
  }

  raise(key: HeadKey): void {
    this.#heads.set(key, { ...this.head(key), epoch: this.head(key).epoch + 1 })
  }

  retire(key: HeadKey): void {
    this.raise(key)
    this.#heads.set(key, { ...this.head(key), retired: true })
  }

  /** Runs the host's `beforeCommit`: whatever it calls may read, and may not write. */
  exclusively(work: () => void): void {
    this.refuseWhileExclusive()
    this.#exclusive = true
    try {
      work()
    } finally {
      this.#exclusive = false
    }
  }

  /** @throws TypeError inside `exclusively` */
  refuseWhileExclusive(): void {
    if (this.#exclusive) throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }

  nextPlace(): number {
    this.#lastPlace += 1
    return this.#lastPlace
  }

  get nextBadgeId(): Id {
    return String(this.#lastBadge + 1)
  }

  defineBadge(badge: Badge): void {
    if (badge.id === this.nextBadgeId) this.#lastBadge += 1
    this.badges.set(badge.slug, badge)
  }

  badgeById(badgeId: Id): Badge {
    for (const badge of this.badges.values()) if (badge.id === badgeId) return badge
    throw new RangeError(`a grant names badge ${badgeId}, which is not in the catalogue`)
  }
}
