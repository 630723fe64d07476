import { closedError, notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { EventDraft, ForgeEvent, HostThing } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { runSync, wait } from '../../schema/sync-or-async.ts'
import type { Removed, Retired, Retirement } from '../contract/storage.ts'
import type { Change, Outcome, WriteContext } from '../contract/stores.ts'
import { copyOf } from './copy.ts'

/** One aggregate: how a change loads and writes it. Both copy, because the caller may modify what it has. */
export interface Aggregate<State> {
  /** What must not be retired. */
  readonly things: readonly Thing[]
  load(): State
  /** Throws if something may not be added. */
  check?(after: State): void
  write(before: State, after: State): void
}

/** A thing of the host. */
type Thing = readonly [HostThing, Id]

/** Which rows are removed with a thing of the host, and how the event counts them, if it does. */
interface OwnedRows<Row> {
  readonly counted?: keyof Removed
  isPartOf(row: Row, retired: Retired): boolean
}

/** Removes the rows that are part of a thing. */
type Removal = (retired: Retired) => { readonly removed: Partial<Removed> | undefined; readonly remove: () => void }

/** What the stores of a memory storage share. Everything is synchronous, so no other call intervenes in a change. */
export class Memory {
  readonly events: Table<ForgeEvent> = new Table(this)
  readonly #retired: Set<string> = new Set()
  readonly #removals: Removal[] = []
  #lastEvent = 0
  #isClosed = false
  #isHostCodeRunning = false

  /** Creates the table of a store, from which rows are removed when a thing of the host is retired. */
  table<Row>({ counted, isPartOf }: OwnedRows<Row>): Table<Row> {
    const table = new Table<Row>(this)
    this.#removals.push((retired) => {
      const kept = table.rows.filter((row) => !isPartOf(row, retired))
      const removed = counted && { [counted]: table.rows.length - kept.length }
      return { removed, remove: () => table.replace(kept) }
    })
    return table
  }

  close(): void {
    this.#isClosed = true
  }

  /** Throws if the storage is closed. @throws ForgeError `STORAGE_UNAVAILABLE` */
  refuseClosed(): void {
    if (this.#isClosed) throw closedError('the storage is closed')
  }

  isRetired(thing: HostThing, id: Id): boolean {
    this.refuseClosed()
    return this.#retired.has(`${thing} ${id}`)
  }

  /** Throws if one of the things is retired. @throws ForgeError its `*_NOT_FOUND` */
  refuseRetired(...things: readonly Thing[]): void {
    for (const [thing, id] of things) if (this.isRetired(thing, id)) throw notFound(thing)
  }

  /** Runs one change: loads, decides, writes all or nothing with the events. */
  update<State, Result>(aggregate: Aggregate<State>, change: Change<State, Result, undefined>): Outcome<Result> {
    const { prepare } = change
    change.signal?.throwIfAborted()
    this.refuseRetired(...aggregate.things)
    const before = aggregate.load()
    const decide = prepare === undefined ? change.decide : this.#runHostCode(() => prepare(before, undefined))
    const at = change.by.at()
    const { state: after, events: drafts, result } = decide(before, at)
    aggregate.check?.(after)
    const events = this.#commit(drafts, at, change, () => {
      if (after !== before) aggregate.write(before, after)
    })
    return { result, events }
  }

  /** Retires one thing of the host, with all rows that are part of it. Nothing happens if it is retired already. */
  retire(retirement: Retirement<undefined>): readonly ForgeEvent[] {
    const { by, record, retired } = retirement
    const [thing, id] = thingOf(retired)
    if (this.isRetired(thing, id)) return []

    const parts = this.#removals.map((removing) => removing(retired))
    const count = (what: keyof Removed): number =>
      parts.reduce((sum, { removed = {} }) => sum + (removed[what] ?? 0), 0)
    const removed = { pins: count('pins'), blocks: count('blocks'), grants: count('grants') }
    return this.#commit([record(removed)], by.at(), retirement, () => {
      for (const { remove } of parts) remove()
      this.#retired.add(`${thing} ${id}`)
    })
  }

  /** Runs the host's code in the middle of a change. The calls that it makes may read but not write. */
  #runHostCode<T>(work: () => MaybePromise<T>): T {
    this.#refuseLent()
    this.#isHostCodeRunning = true
    try {
      return runSync(wait(work()))
    } finally {
      this.#isHostCodeRunning = false
    }
  }

  /** Calls the host's `beforeCommit` with the events, and writes only then: an exception leaves everything unchanged. */
  #commit(
    drafts: readonly EventDraft[],
    at: Date,
    { by, beforeCommit }: WriteContext<undefined>,
    write: () => void,
  ): readonly ForgeEvent[] {
    const events = drafts.map((draft, index): ForgeEvent => {
      const id = String(this.#lastEvent + 1 + index)
      return copyOf({ id, version: 1, at, actorId: by.actorId, ...draft })
    })
    if (events.length > 0 && beforeCommit !== undefined) {
      this.#runHostCode(() => beforeCommit(copyOf(events), undefined))
    }
    this.#refuseLent()
    this.refuseClosed()
    write()
    this.events.add(copyOf(events))
    this.#lastEvent += events.length
    return events
  }

  #refuseLent(): void {
    if (this.#isHostCodeRunning) throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }
}

/** The rows of one kind. They are replaced, never modified in place. */
export class Table<Row> {
  readonly #memory: Memory
  #rows: Row[] = []

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** The rows. @throws ForgeError `STORAGE_UNAVAILABLE` if the storage is closed */
  get rows(): readonly Row[] {
    this.#memory.refuseClosed()
    return this.#rows
  }

  replace(rows: Row[]): void {
    this.#rows = rows
  }

  /** Adds rows at the end, without a copy of all. */
  add(rows: readonly Row[]): void {
    this.#rows.push(...rows)
  }
}

function thingOf(retired: Retired): Thing {
  if (retired.thing === 'user') return ['user', retired.userId]
  if (retired.thing === 'organization') return ['organization', retired.organizationId]
  if (retired.thing === 'repository') return ['repository', retired.repositoryId]
  return ['issue', retired.issueId]
}
