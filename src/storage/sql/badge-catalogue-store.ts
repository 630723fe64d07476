import type { Page } from '../../schema/paging.ts'
import type { Badge } from '../../schema/records.ts'
import type { Steps } from '../../schema/steps.ts'
import type { BadgeCatalogueKey, BadgeCatalogueState, BadgeCatalogueStore } from '../contract/badge-catalogue-store.ts'
import type { PageQuery } from '../contract/page-query.ts'
import type { Difference, SqlAggregate } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { BadgeCatalogueQueries } from './badge-catalogue-queries.ts'
import { badgeCatalogueQueries } from './badge-catalogue-queries.ts'
import type { Head, HeadKey, Heads, RowBesideHead } from './heads.ts'
import { splitHead } from './heads.ts'
import type { CountedRows, PagedList } from './pages.ts'
import { readPage } from './pages.ts'
import type { Statement } from './query.ts'
import type { Session } from './session.ts'
import { ask, askFirst, tell } from './session.ts'
import type { SqlContext } from './sql-context.ts'
import type { StoreParts } from './store-parts.ts'

/** The badge catalogue of an SQL storage. */
export function sqlBadgeCatalogue<Tx>(parts: StoreParts<Tx>): BadgeCatalogueStore<Tx> {
  const { context, runtime, heads } = parts
  const catalogue = new BadgeCatalogue(context, heads)

  return {
    ...aggregateStore(parts, catalogue),
    find: (slug, transaction) => runtime.read((session) => catalogue.find(session, slug), transaction),
    page: (query, transaction) => runtime.read((session) => catalogue.page(session, query), transaction),
  }
}

/** The badge catalogue as one aggregate: its head counts the definitions and gives them their ids. */
class BadgeCatalogue implements SqlAggregate<BadgeCatalogueKey, BadgeCatalogueState> {
  readonly #heads: Heads
  readonly #queries: BadgeCatalogueQueries

  constructor(context: SqlContext, heads: Heads) {
    this.#heads = heads
    this.#queries = badgeCatalogueQueries(context)
  }

  own({ slug }: BadgeCatalogueKey): BadgeCatalogueKey {
    return { slug }
  }

  head(): HeadKey {
    return { scope: 'catalogue', key: '' }
  }

  *lock(session: Session): Steps<Head> {
    return yield* this.#heads.lock(session, this.head())
  }

  *load(session: Session, { slug }: BadgeCatalogueKey, head: Head): Steps<BadgeCatalogueState> {
    const badge = yield* this.find(session, slug)
    const count = badge && (yield* askFirst(session, this.#queries.holders(badge)))
    return { badge, holders: count?.holders ?? 0, nextId: String(head.nextSeq) }
  }

  *find(session: Session, slug: string): Steps<Badge | undefined> {
    const row = yield* askFirst(session, this.#queries.find({ slug }))
    return row && { ...row }
  }

  *page(session: Session, query: PageQuery): Steps<Page<Badge>> {
    const [heads, { slice, tail }] = [this.#heads, this.#queries]
    const key = this.head()

    const list: PagedList<Badge, Badge> = {
      start: 0,
      *count() {
        const { total } = yield* heads.find(session, key)
        return total
      },
      slice: (part) => readRows(session, slice({ ...key, ...part })),
      tail: (part) => readRows(session, tail({ ...key, ...part })),
      place: (row) => Number(row.id),
      item: ({ id, slug, description, imageUrl }) => ({ id, slug, description, imageUrl }),
    }
    return yield* readPage(list, query)
  }

  *write(
    session: Session,
    _key: BadgeCatalogueKey,
    { before, after, head }: Difference<BadgeCatalogueState>,
  ): Steps<Head> {
    if (after.badge === undefined) return yield* this.#remove(session, before.badge, head)
    if (before.badge !== undefined) {
      yield* tell(session, this.#queries.update({ ...after.badge, id: before.badge.id }))
      return head
    }

    yield* tell(session, this.#queries.insert(after.badge))
    return { ...head, total: head.total + 1, nextSeq: head.nextSeq + 1 }
  }

  *#remove(session: Session, badge: Badge | undefined, head: Head): Steps<Head> {
    if (badge === undefined) return head

    yield* tell(session, this.#queries.remove(badge))
    return { ...head, total: head.total - 1 }
  }
}

function* readRows(session: Session, statement: Statement<RowBesideHead<Badge>>): Steps<CountedRows<Badge>> {
  return splitHead(yield* ask(session, statement), 'id')
}
