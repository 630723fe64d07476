import { notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Decision, EventDraft, ForgeEvent, HostThing } from '../../schema/records.ts'
import { runSync, wait } from '../../schema/sync-or-async.ts'
import type { Change, Outcome, WriteContext } from '../contract/stores.ts'
import type { HeadKey, MemoryTables } from './memory-tables.ts'
import { copyEvent } from './memory-tables.ts'

/** One aggregate: how a change loads and writes it. */
export interface Aggregate<State> {
  /** The heads that must not be retired, in the global order of locks, and the thing that each represents. */
  readonly alive: readonly (readonly [HeadKey, HostThing])[]
  load(): State
  /** Throws if something may not be added. */
  check?(before: State, after: State): void
  write(before: State, after: State): void
}

/**
 * Runs one change: loads, decides, writes all or nothing with the events. It is synchronous, so no other change
 * intervenes.
 */
export function updateAggregate<State, Result, Prepared>(
  tables: MemoryTables,
  aggregate: Aggregate<State>,
  change: Change<State, Result, undefined, Prepared>,
): Outcome<Result> {
  change.signal?.throwIfAborted()
  refuseRetired(tables, aggregate.alive)
  const before = aggregate.load()
  const decide = prepared(tables, before, change)
  const at = change.by.at()
  const { state, events: drafts, result } = decide(before, at)
  aggregate.check?.(before, state)
  const events = append(tables, complete(tables, drafts, change.by.actorId, at), change, () => {
    if (state !== before) aggregate.write(before, state)
  })
  return { result, events }
}

/** Calls the host's `prepare`, if there is one, and returns the decision with its answer. */
function prepared<State, Result, Prepared>(
  tables: MemoryTables,
  before: State,
  change: Change<State, Result, undefined, Prepared>,
): (state: State, at: Date) => Decision<State, Result, EventDraft> {
  if (change.prepare === undefined) return change.decide

  const { prepare, decide } = change
  const answer = tables.exclusively(() => runSync(wait(prepare(before, undefined))))
  return (state, at) => decide(state, at, answer)
}

/** Completes drafts with the next event ids, the time and the actor. */
export function complete(
  tables: MemoryTables,
  drafts: readonly EventDraft[],
  actorId: Id | null,
  at: Date,
): readonly ForgeEvent[] {
  const first = tables.nextEvent
  return drafts.map((draft, index) => copyEvent({ id: String(first + index), version: 1, at, actorId, ...draft }))
}

/**
 * Calls the host's `beforeCommit` with the events, and writes only afterwards. An exception before that leaves
 * everything unchanged.
 */
export function append(
  tables: MemoryTables,
  events: readonly ForgeEvent[],
  context: WriteContext<undefined>,
  write: () => void,
): readonly ForgeEvent[] {
  if (events.length > 0 && context.beforeCommit !== undefined) {
    const { beforeCommit } = context
    tables.exclusively(() => runSync(wait(beforeCommit(events.map(copyEvent), undefined))))
  }
  tables.refuseWhileExclusive()
  write()
  tables.append(events.map(copyEvent))
  return events
}

/** Throws if a head is retired. @throws ForgeError `*_NOT_FOUND` for the first of the heads that is retired */
export function refuseRetired(tables: MemoryTables, alive: Aggregate<unknown>['alive']): void {
  for (const [head, thing] of alive) if (tables.head(head).retired) throw notFound(thing)
}
