import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { Badge } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after, runMaybeAsync, wait } from '../../../schema/sync-or-async.ts'
import type { BadgeCatalogueKey, BadgeCatalogueState, BadgeCatalogueStore, PageQuery } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery, mayTakeLong } from '../query.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { defer } from '../session.ts'
import type { Difference, SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { Head, HeadKey, Heads, Lock } from './locks.ts'
import type { PagedList, PageReader, Placed } from './pages.ts'
import { pageReader, readPage } from './pages.ts'
import type { SqlStore } from './removals.ts'
import { keepAll } from './removals.ts'

/** Creates the badge catalogue of an SQL storage. */
export function sqlBadgeCatalogue<Tx>(parts: StoreParts<Tx>): SqlStore<BadgeCatalogueStore<Tx>> {
  const { context, runtime, heads } = parts
  const catalogue = new BadgeCatalogue(context, heads)

  const store: BadgeCatalogueStore<Tx> = {
    ...aggregateStore(parts, catalogue),
    find: (slug, transaction) => runtime.read((session) => catalogue.find(session, slug), transaction),
    page: (query, transaction) => runtime.read((session) => runMaybeAsync(catalogue.page(session, query)), transaction),
  }
  return { store, removals: { user: keepAll, organization: keepAll, repository: keepAll, issue: keepAll } }
}

/** The badge catalogue as one aggregate. Its head counts the definitions and assigns their ids. */
class BadgeCatalogue implements SqlAggregate<BadgeCatalogueKey, BadgeCatalogueState, [Badge, Holders]> {
  readonly #heads: Heads
  readonly #queries: BadgeCatalogueQueries
  readonly #pages: PageReader<HeadKey, Badge>

  constructor(context: SqlContext, heads: Heads) {
    this.#heads = heads
    this.#queries = badgeCatalogueQueries(context)
    this.#pages = badgePages(context)
  }

  own({ slug }: BadgeCatalogueKey): BadgeCatalogueKey {
    return { slug }
  }

  head(): HeadKey {
    return { scope: 'catalogue', key: '' }
  }

  locks(): readonly Lock[] {
    return [{ head: this.head() }]
  }

  loading(key: BadgeCatalogueKey): Statements<[Badge, Holders]> {
    return [this.#queries.find(key), this.#queries.holders(key)]
  }

  state(_key: BadgeCatalogueKey, [[row], [count]]: RowsOfEach<[Badge, Holders]>, head: Head): BadgeCatalogueState {
    return { badge: row && { ...row }, holders: count?.holders ?? 0, nextId: String(head.nextSeq) }
  }

  find(session: Session, slug: string): MaybePromise<Badge | undefined> {
    return after(session.first(this.#queries.find({ slug })), (row) => row && { ...row })
  }

  *page(session: Session, pageQuery: PageQuery): SyncOrAsync<Page<Badge>> {
    const [heads, pages] = [this.#heads, this.#pages]
    const key = this.head()

    const list: PagedList<Placed<Badge>, Badge> = {
      start: 0,
      count: () => wait(after(heads.find(session, key), ({ total }) => total)),
      slice: (part) => pages.slice(session, { ...key, ...part }),
      tail: (part) => pages.tail(session, { ...key, ...part }),
      place: (row) => row.place,
      item: ({ id, slug, description, imageUrl }) => ({ id, slug, description, imageUrl }),
    }
    return yield* readPage(list, pageQuery)
  }

  *write(
    session: Session,
    _key: BadgeCatalogueKey,
    { before, after, head }: Difference<BadgeCatalogueState>,
  ): SyncOrAsync<Head> {
    if (after.badge === undefined) return yield* this.#remove(session, before.badge, head)
    if (before.badge !== undefined) {
      yield* defer(session, this.#queries.update({ ...after.badge, id: before.badge.id }))
      return head
    }

    yield* defer(session, this.#queries.insert(after.badge))
    return { ...head, total: head.total + 1, nextSeq: head.nextSeq + 1 }
  }

  *#remove(session: Session, badge: Badge | undefined, head: Head): SyncOrAsync<Head> {
    if (badge === undefined) return head

    yield* defer(session, this.#queries.remove(badge))
    return { ...head, total: head.total - 1 }
  }
}

/** How many users hold a badge. */
export interface Holders {
  readonly holders: number
}

/** Identifies one definition. */
export interface BadgeId {
  readonly id: Id
}

/** The statements of the badge catalogue. */
export interface BadgeCatalogueQueries {
  readonly find: Query<BadgeCatalogueKey, Badge>
  readonly holders: Query<BadgeCatalogueKey, Holders>
  readonly insert: Query<Badge, unknown>
  readonly update: Query<Badge, unknown>
  readonly remove: Query<BadgeId, unknown>
}

/** Defines the statements of the badge catalogue. */
function badgeCatalogueQueries(context: SqlContext): BadgeCatalogueQueries {
  return {
    find: findQuery(context),
    holders: holdersQuery(context),
    insert: insertQuery(context),
    update: updateQuery(context),
    remove: mayTakeLong(removeQuery(context)),
  }
}

function badgePages(context: SqlContext): PageReader<HeadKey, Badge> {
  return pageReader(context, {
    table: 'badges',
    place: 'id',
    columns: {
      id: context.columns.id('badges.id'),
      slug: sql.ref('slug'),
      description: sql.ref('description'),
      imageUrl: sql.ref('image_url'),
    },
    within: () => sql`1 = 1`,
  })
}

function findQuery({ build, columns }: SqlContext): BadgeCatalogueQueries['find'] {
  return defineQuery((given) =>
    build
      .selectFrom('badges')
      .select([columns.id('id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('slug', '=', given('slug')),
  )
}

function holdersQuery({ build, columns }: SqlContext): BadgeCatalogueQueries['holders'] {
  return defineQuery((given) =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select(columns.count().as('holders'))
      .where('slug', '=', given('slug')),
  )
}

function insertQuery({ build, ids }: SqlContext): BadgeCatalogueQueries['insert'] {
  return defineQuery((given) =>
    build.insertInto('badges').values({
      id: ids.givenInteger(given('id')),
      slug: given('slug'),
      description: given('description'),
      image_url: given('imageUrl'),
    }),
  )
}

function updateQuery({ build, ids }: SqlContext): BadgeCatalogueQueries['update'] {
  return defineQuery((given) =>
    build
      .updateTable('badges')
      .set({ description: given('description'), image_url: given('imageUrl') })
      .where('id', '=', ids.givenInteger(given('id'))),
  )
}

function removeQuery({ build, ids }: SqlContext): BadgeCatalogueQueries['remove'] {
  return defineQuery((given) => build.deleteFrom('badges').where('id', '=', ids.givenInteger(given('id'))))
}
