import type { ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Steps } from '../../schema/steps.ts'
import { run, wait } from '../../schema/steps.ts'
import type { EventFilter, EventStore } from '../contract/event-store.ts'
import type { PageQuery } from '../contract/page-query.ts'
import type { EventQueries } from './event-queries.ts'
import { eventQueries } from './event-queries.ts'
import type { EventRow } from './event-rows.ts'
import { toEvent } from './event-rows.ts'
import { Consumers } from './outbox/consumers.ts'
import { Numbering } from './outbox/numbering.ts'
import { Outbox } from './outbox/outbox.ts'
import { OutboxRow } from './outbox/outbox-row.ts'
import { Pruning } from './outbox/pruning.ts'
import type { CountedRows, PagedList } from './pages.ts'
import { readPage } from './pages.ts'
import type { Session } from './session.ts'
import { ask, askFirst } from './session.ts'
import type { SqlContext } from './sql-context.ts'
import type { StoreParts } from './store-parts.ts'

/** The events of an SQL storage. */
export function sqlEvents<Tx>({ context, runtime }: StoreParts<Tx>): EventStore<Tx> {
  const events = new Events(context)
  const row = new OutboxRow(context)
  const numbering = new Numbering(context, runtime, row)
  const outbox = new Outbox({ context, runtime, row, numbering })
  const consumers = new Consumers(context, row)
  const pruning = new Pruning({ context, runtime, row, numbering, consumers })

  return {
    read: (query) => run(outbox.read(query)),
    list: (filter, query) => runtime.readSnapshot((session) => events.list(session, filter, query), undefined),
    history: (issueId, transaction) => runtime.read((session) => events.history(session, issueId), transaction),
    claim: ({ name, holder }, milliseconds) =>
      runtime.write((session) => consumers.claim(session, { name, holder }, milliseconds), {}),
    advance: ({ name, holder }, cursor) =>
      runtime.write((session) => consumers.advance(session, { name, holder }, cursor), {}),
    release: ({ name, holder }) => runtime.write((session) => consumers.release(session, { name, holder }), {}),
    forget: (name) => runtime.write((session) => consumers.forget(session, name), {}),
    prune: (before) => run(pruning.prune(before)),
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

  /** In a snapshot, in which the events are counted once: a filter may find very many. */
  *list(session: Session, filter: EventFilter, query: PageQuery): Steps<Page<ForgeEvent>> {
    const count = yield* askFirst(session, this.#queries.count(filter))
    const total = count?.total ?? 0

    const list: PagedList<EventRow, ForgeEvent> = {
      start: -Number.MAX_SAFE_INTEGER,
      count: () => wait(total),
      slice: (part) => counted(total, ask(session, this.#queries.slice(filter, part))),
      tail: (part) => counted(total, ask(session, this.#queries.tail(filter, part))),
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

function* counted<Row>(total: number, reading: Steps<readonly Row[]>): Steps<CountedRows<Row>> {
  return { rows: yield* reading, total }
}

function isPinning(event: ForgeEvent): event is Pinning {
  return event.type === 'issue.pinned' || event.type === 'issue.unpinned'
}
