import type { Steps } from '../../../schema/steps.ts'
import { wait } from '../../../schema/steps.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { ask, askFirst, tell } from '../session.ts'
import { toMilliseconds } from '../times.ts'
import type { Consumers } from './consumers.ts'
import type { Numbering } from './numbering.ts'
import type { OutboxParts } from './outbox.ts'
import type { OutboxRow } from './outbox-row.ts'
import type { PruningQueries, StretchEnd } from './pruning-queries.ts'
import { pruningQueries } from './pruning-queries.ts'

/** Events that are looked at together, and removed in one transaction, at most. */
const MOST = 500

/** A stretch of the outbox, without its beginning and with its end. */
export interface Stretch {
  readonly after: number
  readonly end: number
}

/** What pruning works with. */
export interface PruningParts<Tx> extends OutboxParts<Tx> {
  readonly consumers: Consumers
}

/**
 * The removal of old events. It walks through the outbox in short stretches, looks without locks, and takes the lock only
 * where something is to be removed: so neither writers nor readers wait for it, nor does a process stand still.
 */
export class Pruning<Tx> {
  readonly #runtime: SqlRuntime<Tx>
  readonly #row: OutboxRow
  readonly #numbering: Numbering<Tx>
  readonly #consumers: Consumers
  readonly #queries: PruningQueries

  constructor({ context, runtime, row, numbering, consumers }: PruningParts<Tx>) {
    this.#runtime = runtime
    this.#row = row
    this.#numbering = numbering
    this.#consumers = consumers
    this.#queries = pruningQueries(context)
  }

  /** Removes what was made before a time and is behind every consumer; gives how many. */
  *prune(before: Date): Steps<number> {
    const time = toMilliseconds(before)
    yield* this.#numbering.catchUp()
    let stretch = yield* this.#next(0)
    let removed = yield* this.#clear(stretch, time)
    while (!stretch.isLast) {
      yield* wait(turn())
      stretch = yield* this.#next(stretch.end)
      removed += yield* this.#clear(stretch, time)
    }
    return removed
  }

  /** The next stretch. One that is not full is the last: what is written meanwhile waits for the next prune. */
  *#next(after: number): Steps<Stretch & { readonly isLast: boolean }> {
    const found = yield* wait(this.#runtime.read((session) => this.#measure(session, after), undefined))
    return { after, end: found?.end ?? after, isLast: found === undefined || found.count < MOST }
  }

  *#measure(session: Session, after: number): Steps<StretchEnd | undefined> {
    const behindAll = (yield* this.#consumers.behindAll(session)) ?? Number.MAX_SAFE_INTEGER
    return yield* askFirst(session, this.#queries.end({ after, behindAll, limit: MOST }))
  }

  *#clear({ after, end }: Stretch, before: number): Steps<number> {
    const look = this.#runtime.read(
      (session) => ask(session, this.#queries.removable({ after, end, before })),
      undefined,
    )
    const found = yield* wait(look)
    if (found.length === 0) return 0

    return yield* wait(this.#runtime.write((session) => this.#remove(session, { after, end }, before), {}))
  }

  /** Looks again behind the lock: another may have pruned, and a new consumer may have come. */
  *#remove(session: Session, { after, end }: Stretch, before: number): Steps<number> {
    const state = yield* this.#row.lock(session)
    const behindAll = (yield* this.#consumers.behindAll(session)) ?? end
    const rows = yield* ask(session, this.#queries.removable({ after, end: Math.min(end, behindAll), before }))
    const last = rows.at(-1)
    if (last === undefined) return 0

    yield* tell(session, this.#queries.remove({ ids: rows.map((row) => row.id) }))
    yield* this.#row.save(session, { ...state, floor: Math.max(state.floor, last.place) })
    return rows.length
  }
}

/** Lets the event loop turn: where nothing waits, all of a long outbox would be pruned in one. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
