import { closedError } from '../../schema/errors.ts'
import type { ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Badge, Block, PinKind } from '../../schema/records.ts'
import type { PinRow } from '../contract/stores.ts'

/** What locks one aggregate; in memory it only counts. */
export interface Head {
  readonly epoch: number
  readonly retired: boolean
}

/** Names one head. */
export type HeadKey = `user ${Id}` | `organization ${Id}` | `board ${PinKind} ${Id}` | 'catalogue'

/** One pin board in its order. */
export interface Board {
  readonly kind: PinKind
  readonly rows: readonly PinRow[]
}

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

/** What a consumer has behind it, and who holds its name until when, in milliseconds since 1970. */
export interface Lease {
  readonly place: number
  readonly holder: string | undefined
  readonly until: number
}

/** Everything a memory storage keeps. Lists and rows are replaced, never changed in place. */
export class MemoryTables {
  readonly #boards = new Map<HeadKey, Board>()
  readonly #blocks = new Map<Id, Map<Id, PlacedBlock>>()
  readonly #grants = new Map<Id, readonly GrantRow[]>()
  readonly #badges = new Map<string, Badge>()
  readonly #retiredIssues = new Set<Id>()
  readonly #consumers = new Map<string, Lease>()
  readonly #heads = new Map<HeadKey, Head>()
  #events: ForgeEvent[] = []
  #lastEvent = 0
  /** The last place of the outbox that was pruned. */
  floor = 0
  #closed = false
  #lastPlace = 0
  #lastBadge = 0
  #exclusive = false

  get boards(): Map<HeadKey, Board> {
    return this.#whileOpen(this.#boards)
  }

  /** By organization, then by user, in order of blocking. */
  get blocks(): Map<Id, Map<Id, PlacedBlock>> {
    return this.#whileOpen(this.#blocks)
  }

  get grants(): Map<Id, readonly GrantRow[]> {
    return this.#whileOpen(this.#grants)
  }

  get badges(): Map<string, Badge> {
    return this.#whileOpen(this.#badges)
  }

  get retiredIssues(): Set<Id> {
    return this.#whileOpen(this.#retiredIssues)
  }

  get consumers(): Map<string, Lease> {
    return this.#whileOpen(this.#consumers)
  }

  get events(): readonly ForgeEvent[] {
    return this.#whileOpen(this.#events)
  }

  /** The number of the next event: never given out twice, also when events are pruned. */
  get nextEvent(): number {
    return this.#lastEvent + 1
  }

  append(events: readonly ForgeEvent[]): void {
    this.#whileOpen(this.#events).push(...events)
    this.#lastEvent += events.length
  }

  keepEvents(events: readonly ForgeEvent[]): void {
    this.#events = [...events]
  }

  /** From here on every table refuses, as a storage with connections does. */
  close(): void {
    this.#closed = true
  }

  #whileOpen<Table>(table: Table): Table {
    if (this.#closed) throw closedError('the storage is closed')
    return table
  }

  head(key: HeadKey): Head {
    return this.#whileOpen(this.#heads).get(key) ?? { epoch: 0, retired: false }
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

/** A pin of its own: nobody else holds its date. */
export function copyPin(pin: PinRow): PinRow {
  return { ...pin, pinnedAt: new Date(pin.pinnedAt) }
}

/** A block of its own. */
export function copyBlock(block: Block): Block {
  return { ...block, blockedAt: new Date(block.blockedAt) }
}

/** An event of its own. */
export function copyEvent<E extends ForgeEvent>(event: E): E {
  return { ...event, at: new Date(event.at), data: { ...event.data } }
}
