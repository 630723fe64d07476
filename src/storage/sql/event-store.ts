import type { ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Steps } from '../../schema/steps.ts'
import type { EventFilter, EventStore } from '../contract/event-store.ts'
import type { PageQuery } from '../contract/page-query.ts'
import type { EventQueries } from './event-queries.ts'
import { eventQueries } from './event-queries.ts'
import type { EventRow } from './event-rows.ts'
import { toEvent } from './event-rows.ts'
import type { PagedList } from './pages.ts'
import { cursorOf, noCursor, placeOf, readPage } from './pages.ts'
import type { Session } from './session.ts'
import { ask, askFirst } from './session.ts'
import type { SqlContext } from './sql-context.ts'
import type { StoreParts } from './store-parts.ts'

/** The events of an SQL storage. */
export function sqlEvents<Tx>({ context, runtime }: StoreParts<Tx>): EventStore<Tx> {
  const events = new Events(context)

  return {
    read: (query) => runtime.read((session) => events.read(session, query), undefined),
    list: (filter, query) => runtime.readSnapshot((session) => events.list(session, filter, query), undefined),
    history: (issueId, transaction) => runtime.read((session) => events.history(session, issueId), transaction),
    committed: (eventIds) => runtime.readOutside((session) => events.among(session, eventIds), []),
  }
}

type Pinning = ForgeEvent<'issue.pinned' | 'issue.unpinned'>

/** The reading of events. Writing them is the event log's. */
class Events {
  readonly #queries: EventQueries

  constructor(context: SqlContext) {
    this.#queries = eventQueries(context)
  }

  *read(
    session: Session,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): Steps<{ readonly events: readonly ForgeEvent[]; readonly cursor: string }> {
    const start = after === undefined ? 0 : placeInOutbox(after)
    const rows = yield* ask(session, this.#queries.outbox({ after: start, limit }))
    return { events: rows.map(({ place: _, ...row }) => toEvent(row)), cursor: cursorOf(rows.at(-1)?.place ?? start) }
  }

  *list(session: Session, filter: EventFilter, query: PageQuery): Steps<Page<ForgeEvent>> {
    const count = yield* askFirst(session, this.#queries.count(filter))

    const list: PagedList<EventRow, ForgeEvent> = {
      total: count?.total ?? 0,
      start: -Number.MAX_SAFE_INTEGER,
      slice: (slice) => ask(session, this.#queries.slice(filter, slice)),
      tail: (tail) => ask(session, this.#queries.tail(filter, tail)),
      place: (row) => -Number(row.id),
      item: toEvent,
    }
    return yield* readPage(list, query)
  }

  *history(session: Session, issueId: Id): Steps<readonly Pinning[]> {
    const rows = yield* ask(session, this.#queries.history({ issueId }))
    return rows.map(toEvent).filter(isPinning)
  }

  *among(session: Session, eventIds: readonly Id[]): Steps<readonly ForgeEvent[]> {
    const rows = yield* ask(session, this.#queries.among({ eventIds }))
    return rows.map(toEvent)
  }
}

/** Places in the outbox count upwards from zero; those of the audit view are below. */
function placeInOutbox(cursor: string): number {
  const place = placeOf(cursor)
  if (place < 0) throw noCursor()
  return place
}

function isPinning(event: ForgeEvent): event is Pinning {
  return event.type === 'issue.pinned' || event.type === 'issue.unpinned'
}
