import { closedError, invalidInput, notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Badge, Block, EventDraft, ForgeEvent, HostThing } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { runSync, wait } from '../../schema/sync-or-async.ts'
import type { PageQuery, PinBoardKey, PinRow, WriteContext } from '../contract/stores.ts'

/** A pin of a board. Pins of one board are in order. */
export interface KeptPin extends PinBoardKey, PinRow {}

/** A block and its place in the order of blocking. */
export interface KeptBlock extends Block {
  readonly place: number
}

/** A grant. It holds the badge by id, because the definition may change. */
export interface KeptGrant {
  readonly userId: Id
  readonly badgeId: Id
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** The place up to which a consumer has processed events, and who holds its name until when, in milliseconds since 1970. */
export interface Lease {
  readonly place: number
  readonly holder: string | undefined
  readonly until: number
}

/** Names a thing of the host. */
export type ThingName = `${HostThing} ${Id}`

/** The data. Rows are replaced, never modified in place. */
class Data {
  pins: readonly KeptPin[] = []
  blocks: readonly KeptBlock[] = []
  grants: readonly KeptGrant[] = []
  badges: readonly Badge[] = []
  events: ForgeEvent[] = []
  readonly retired: Set<ThingName> = new Set()
  /** The epoch of each organization. */
  readonly epochs: Map<Id, number> = new Map()
  readonly consumers: Map<string, Lease> = new Map()
  /** The last pruned place of the outbox. */
  oldest = 0
  /** The last assigned numbers: none is assigned twice. */
  readonly last = { event: 0, block: 0, badge: 0 }
}

/** The tables of a memory storage. Everything is synchronous, so no other call intervenes in a change. */
export class Memory {
  readonly #tables = new Data()
  #isClosed = false
  #isLent = false

  /** The data. @throws ForgeError `STORAGE_UNAVAILABLE` if the storage is closed */
  get tables(): Data {
    if (this.#isClosed) throw closedError('the storage is closed')
    return this.#tables
  }

  close(): void {
    this.#isClosed = true
  }

  /** Throws if one of the things is retired. @throws ForgeError its `*_NOT_FOUND` */
  refuseRetired(...things: readonly (readonly [HostThing, Id])[]): void {
    for (const [thing, id] of things) if (this.tables.retired.has(`${thing} ${id}`)) throw notFound(thing)
  }

  /** Runs the host's code in the middle of a change. The calls that it makes may read but not write. */
  lend<T>(work: () => MaybePromise<T>): T {
    this.#refuseLent()
    this.#isLent = true
    try {
      return runSync(wait(work()))
    } finally {
      this.#isLent = false
    }
  }

  /** Calls the host's `beforeCommit` with the events, and writes only then: an exception leaves everything unchanged. */
  commit(
    drafts: readonly EventDraft[],
    at: Date,
    { by, beforeCommit }: WriteContext<undefined>,
    write: (tables: Data) => void,
  ): readonly ForgeEvent[] {
    const { last } = this.tables
    const events = drafts.map((draft, index) =>
      copyEvent({ id: String(last.event + 1 + index), version: 1, at, actorId: by.actorId, ...draft }),
    )
    if (events.length > 0 && beforeCommit !== undefined) this.lend(() => beforeCommit(events.map(copyEvent), undefined))
    this.#refuseLent()
    write(this.tables)
    this.tables.events.push(...events.map(copyEvent))
    last.event += events.length
    return events
  }

  #refuseLent(): void {
    if (this.#isLent) throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }
}

/** Copies an event. */
export function copyEvent<E extends ForgeEvent>(event: E): E {
  return { ...event, at: new Date(event.at), data: { ...event.data } }
}

/** The place of a row in a list: by the number, and then by the text. */
export type RowPlace = readonly [number, string]

/**
 * Cuts one page out of a complete list.
 *
 * @param placeOf - returns the place of a row, which grows along the list; a cursor names it
 * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
 */
export function cutPage<T>(rows: readonly T[], placeOf: (row: T) => RowPlace, { from, limit }: PageQuery): Page<T> {
  const rest = 'after' in from ? following(rows, placeOf, placeIn(from.after)) : rows.slice((from.page - 1) * limit)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  const cursor = last !== undefined && rest.length > limit ? cursorOf(...placeOf(last)) : undefined
  return { items, total: rows.length, limit, cursor }
}

function following<T>(rows: readonly T[], placeOf: (row: T) => RowPlace, last: RowPlace): readonly T[] {
  return rows.filter((row) => comparePlaces(placeOf(row), last) > 0)
}

/** Compares two places, for `sort`. */
export function comparePlaces([one, text]: RowPlace, [other, otherText]: RowPlace): number {
  if (one !== other) return one - other
  if (text === otherText) return 0
  return text < otherText ? -1 : 1
}

/** Returns the cursor that names a place. */
export function cursorOf(number: number, text = ''): string {
  return `p${number} ${text}`
}

/** Returns the place that a cursor names. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
export function placeIn(cursor: string): RowPlace {
  const [, number, text] = /^p(-?\d{1,15}) (.*)$/su.exec(cursor) ?? []
  if (number !== undefined && text !== undefined) return [Number(number), text]
  throw invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}
