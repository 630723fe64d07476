import { closedError } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Badge, Block, ForgeEvent, PinKind } from '../../schema/records.ts'
import type { IssueImportKey, PinBoardKey, PinRow } from '../contract/stores.ts'

/** The head of one aggregate. In memory it locks nothing and only counts. */
export interface Head {
  readonly epoch: number
  readonly retired: boolean
}

/** Identifies one head. */
export type HeadKey = `user ${Id}` | `organization ${Id}` | `board ${PinKind} ${Id}` | `imports ${Id}`

/** Returns the key of the head of one board. */
export function boardHead({ repositoryId, kind }: PinBoardKey): HeadKey {
  return `board ${kind} ${repositoryId}`
}

/** Returns the key of the head of the imports into one repository. */
export function importsHead({ repositoryId }: IssueImportKey): HeadKey {
  return `imports ${repositoryId}`
}

/** One stored grant. It holds the badge by id, because the definition may change. */
export interface GrantRow {
  readonly badgeId: Id
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/**
 * The place up to which a consumer has processed events, and the holder of its name until a time in milliseconds since
 * 1970.
 */
export interface Lease {
  readonly place: number
  readonly holder: string | undefined
  readonly until: number
}

const SUBJECTS = ['issueId', 'organizationId', 'repositoryId', 'userId', 'actorId'] as const

/** What an event may concern. */
export type EventSubjects = { readonly [S in (typeof SUBJECTS)[number]]?: Id | undefined }

function subjectKey(subject: (typeof SUBJECTS)[number], id: Id): string {
  return `${subject} ${id}`
}

/** The data of a memory storage. Lists and rows are replaced, never modified in place. */
export class MemoryTables {
  readonly #grants = new Map<Id, readonly GrantRow[]>()
  readonly #badges = new Map<string, Badge>()
  readonly #retiredIssues = new Set<Id>()
  readonly #consumers = new Map<string, Lease>()
  readonly #heads = new Map<HeadKey, Head>()
  #events: ForgeEvent[] = []
  /** The same events by what they concern, so that no reader has to search all of them. */
  #eventsAbout = new Map<string, ForgeEvent[]>()
  #lastEvent = 0
  /** The last pruned place of the outbox. */
  oldest = 0
  #closed = false
  #lastPlace = 0
  #lastBadge = 0
  #exclusive = false

  /** Takes a table that only one store uses, and returns the function by which the store reads it. */
  own<Table>(table: Table): () => Table {
    return () => this.#whileOpen(table)
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

  /** The number of the next event. It is never assigned twice, even after events are pruned. */
  get nextEvent(): number {
    return this.#lastEvent + 1
  }

  /** Returns the events about the rarest of some subjects, in order; all events if no subject is given. */
  eventsAbout(subjects: EventSubjects): readonly ForgeEvent[] {
    let rarest: readonly ForgeEvent[] = this.events
    for (const subject of SUBJECTS) {
      if (subjects[subject] === undefined) continue
      const events = this.#eventsAbout.get(subjectKey(subject, subjects[subject])) ?? []
      if (events.length < rarest.length) rarest = events
    }
    return rarest
  }

  append(events: readonly ForgeEvent[]): void {
    const all = this.#whileOpen(this.#events)
    for (const event of events) {
      all.push(event)
      this.#note(event)
    }
    this.#lastEvent += events.length
  }

  keepEvents(events: readonly ForgeEvent[]): void {
    this.#events = [...events]
    this.#eventsAbout = new Map()
    for (const event of events) this.#note(event)
  }

  #note(event: ForgeEvent): void {
    for (const subject of SUBJECTS) {
      const id = event[subject]
      if (id === null) continue
      const key = subjectKey(subject, id)
      const known = this.#eventsAbout.get(key)
      if (known === undefined) this.#eventsAbout.set(key, [event])
      else known.push(event)
    }
  }

  /** Closes the storage. Every table is refused afterwards, as in a storage with connections. */
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

  setEpoch(key: HeadKey, epoch: number): void {
    this.#heads.set(key, { ...this.head(key), epoch })
  }

  retire(key: HeadKey): void {
    this.#heads.set(key, { ...this.head(key), retired: true })
  }

  /** Runs the host's code in the middle of a change. The calls it makes may read but not write. */
  exclusively<T>(work: () => T): T {
    this.refuseWhileExclusive()
    this.#exclusive = true
    try {
      return work()
    } finally {
      this.#exclusive = false
    }
  }

  /** Throws inside `exclusively`. @throws TypeError inside `exclusively` */
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
    throw new RangeError(`a grant refers to badge ${badgeId}, which is not in the catalogue`)
  }
}

/** Copies a pin, so that its date is not shared. */
export function copyPin(pin: PinRow): PinRow {
  return { ...pin, pinnedAt: new Date(pin.pinnedAt) }
}

/** Copies a block. */
export function copyBlock(block: Block): Block {
  return { ...block, blockedAt: new Date(block.blockedAt) }
}

/** Copies an event. */
export function copyEvent<E extends ForgeEvent>(event: E): E {
  return { ...event, at: new Date(event.at), data: { ...event.data } }
}
