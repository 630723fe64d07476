import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { Block } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after, runMaybeAsync, wait } from '../../../schema/sync-or-async.ts'
import type { BlockKey, BlockState, BlockStore, PageQuery } from '../../contract/stores.ts'
import { toMilliseconds } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery, mayTakeLong } from '../query.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { defer, query } from '../session.ts'
import type { Difference, SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { Head, HeadKey, Heads, Lock } from './locks.ts'
import { refuseRetired } from './locks.ts'
import type { HeadAndRows, PagedList, PageReader, Placed } from './pages.ts'
import { pageReader, readPage } from './pages.ts'
import type { Removal, Removals, SqlStore } from './removals.ts'
import { keepAll } from './removals.ts'

/** Creates the blocks of an SQL storage. */
export function sqlBlocks<Tx>(parts: StoreParts<Tx>): SqlStore<BlockStore<Tx>> {
  const { context, runtime, heads } = parts
  const blocks = new Blocks(context, heads)

  const store: BlockStore<Tx> = {
    ...aggregateStore(parts, blocks),
    epoch: (organizationId, transaction) =>
      runtime.read((session) => blocks.epoch(session, organizationId), transaction),
    find: (key, transaction) => runtime.read((session) => blocks.find(session, key), transaction),
    among: (organizationId, userIds, transaction) =>
      runtime.read((session) => blocks.among(session, organizationId, userIds), transaction),
    page: (organizationId, query, transaction) =>
      runtime.read((session) => runMaybeAsync(blocks.page(session, organizationId, query)), transaction),
  }
  return { store, removals: removalsOf(blocks) }
}

/** A retired user or organization takes the blocks of it with it. */
function removalsOf(blocks: Blocks): Removals {
  return {
    user: (session, { userId }) => blocks.removeUser(session, userId),
    organization: (session, { organizationId }, head) => blocks.removeOrganization(session, organizationId, head),
    repository: keepAll,
    issue: keepAll,
  }
}

/** The blocks as aggregates. The organization's head has the epoch and counts them. */
class Blocks implements SqlAggregate<BlockKey, BlockState, [FoundBlock]> {
  readonly #context: SqlContext
  readonly #heads: Heads
  readonly #queries: BlockQueries
  readonly #pages: PageReader<OrganizationKey, ListedBlock>

  constructor(context: SqlContext, heads: Heads) {
    this.#context = context
    this.#heads = heads
    this.#queries = blockQueries(context)
    this.#pages = blockPages(context)
  }

  own({ organizationId, userId }: BlockKey): BlockKey {
    return { organizationId, userId }
  }

  head({ organizationId }: { readonly organizationId: Id }): HeadKey {
    return { scope: 'organization', key: this.#context.ids.fitting('organization', organizationId) }
  }

  locks(key: BlockKey): readonly Lock[] {
    const user = { scope: 'user', key: this.#context.ids.fitting('user', key.userId) } as const
    return [
      { head: user, thing: 'user' },
      { head: this.head(key), thing: 'organization' },
    ]
  }

  loading(key: BlockKey): Statements<[FoundBlock]> {
    return [this.#queries.find(key)]
  }

  state(key: BlockKey, [[row]]: RowsOfEach<[FoundBlock]>, { epoch }: Head): BlockState {
    return { block: row && toBlock(key, row), epoch }
  }

  epoch(session: Session, organizationId: Id): MaybePromise<number> {
    return after(this.#heads.find(session, this.head({ organizationId })), ({ epoch }) => epoch)
  }

  find(session: Session, key: BlockKey): MaybePromise<Block | undefined> {
    return after(session.first(this.#queries.find(key)), (row) => row && toBlock(key, row))
  }

  among(session: Session, organizationId: Id, userIds: readonly Id[]): MaybePromise<ReadonlySet<Id>> {
    const rows = session.all(this.#queries.among({ organizationId, userIds }))
    return after(rows, (found) => new Set(found.map((row) => row.userId)))
  }

  *page(session: Session, organizationId: Id, pageQuery: PageQuery): SyncOrAsync<Page<Block>> {
    const [heads, pages] = [this.#heads, this.#pages]
    const key = { organizationId, ...this.head({ organizationId }) }

    const list: PagedList<Placed<ListedBlock>, Block> = {
      start: 0,
      count() {
        const total = after(heads.find(session, key), (head) => {
          refuseRetired(head, 'organization')
          return head.total
        })
        return wait(total)
      },
      slice: (part) => unlessRetired(pages.slice(session, { ...key, ...part })),
      tail: (part) => unlessRetired(pages.tail(session, { ...key, ...part })),
      place: (row) => row.place,
      item: (row) => toBlock({ organizationId, userId: row.userId }, row),
    }
    return yield* readPage(list, pageQuery)
  }

  *write(session: Session, key: BlockKey, { before, after, head }: Difference<BlockState>): SyncOrAsync<Head> {
    const { block, epoch } = after
    if (block === before.block) return { ...head, epoch }

    if (block === undefined) {
      yield* defer(session, this.#queries.remove(key))
      return { ...head, epoch, total: head.total - 1 }
    }
    if (before.block !== undefined) {
      yield* defer(session, this.#queries.update({ ...block, ...key }))
      return { ...head, epoch }
    }

    yield* defer(session, this.#queries.insert({ seq: head.nextSeq, ...block, ...key }))
    return { ...head, epoch, total: head.total + 1, nextSeq: head.nextSeq + 1 }
  }

  /** Removes the blocks of a user. The snapshot of a host's transaction may be older than the lock on the user. */
  *removeUser(session: Session, userId: Id): SyncOrAsync<Removal> {
    const locked = yield* this.#heads.lockFound(session, this.#queries.blocking({ userId }), {
      headOf: (key) => this.head(key),
    })
    const removed = yield* query(session, this.#queries.removeOf({ userId }))

    const names = new Set(removed.map(({ organizationId }) => organizationId))
    const heads = locked.filter(({ key }) => names.has(key.organizationId)).map(({ head }) => head)
    return { removed: { blocks: removed.length }, heads: heads.map((head) => ({ ...head, total: head.total - 1 })) }
  }

  /** Removes all blocks of an organization. Its head counts them. */
  *removeOrganization(session: Session, organizationId: Id, { total }: Head): SyncOrAsync<Removal> {
    yield* defer(session, this.#queries.removeBy({ organizationId }))
    return { removed: { blocks: total } }
  }
}

function* unlessRetired<Row>(reading: SyncOrAsync<HeadAndRows<Row>>): SyncOrAsync<HeadAndRows<Row>> {
  const found = yield* reading
  refuseRetired(found, 'organization')
  return found
}

function toBlock({ organizationId, userId }: BlockKey, { note, blockedAt, blockedBy }: FoundBlock): Block {
  return { organizationId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}

/** What the statements return of a block whose key is known. */
export interface FoundBlock {
  readonly note: string
  readonly blockedAt: number
  readonly blockedBy: Id | null
}

/** What a page returns of a block. */
export interface ListedBlock extends FoundBlock {
  readonly userId: Id
}

/** Identifies one organization. */
interface OrganizationKey {
  readonly organizationId: Id
}

/** Identifies one user. */
interface UserKey {
  readonly userId: Id
}

/** The statements of the blocks. */
export interface BlockQueries {
  readonly find: Query<BlockKey, FoundBlock>
  readonly insert: Query<Block & { readonly seq: number }, unknown>
  readonly update: Query<Block, unknown>
  readonly remove: Query<BlockKey, unknown>
  readonly blocking: Query<UserKey, OrganizationKey>
  readonly removeOf: Query<UserKey, OrganizationKey>
  readonly removeBy: Query<OrganizationKey, unknown>
  readonly among: Query<OrganizationKey & { readonly userIds: readonly Id[] }, { readonly userId: Id }>
}

/** Defines the statements of the blocks. */
function blockQueries(context: SqlContext): BlockQueries {
  return {
    find: findQuery(context),
    insert: insertQuery(context),
    update: updateQuery(context),
    remove: removeQuery(context),
    blocking: blockingQuery(context),
    removeOf: mayTakeLong(removeOfQuery(context)),
    removeBy: mayTakeLong(removeByQuery(context)),
    among: amongQuery(context),
  }
}

function blockPages(context: SqlContext): PageReader<OrganizationKey, ListedBlock> {
  const { columns, ids } = context
  return pageReader(context, {
    table: 'organization_blocks',
    place: 'seq',
    columns: {
      userId: columns.id('user_id'),
      note: sql.ref('note'),
      blockedAt: columns.number('blocked_at'),
      blockedBy: columns.idOrNull('blocked_by'),
    },
    within: (given) => sql`organization_id = ${ids.given('organization', given('organizationId'))}`,
  })
}

function findQuery({ build, ids, columns }: SqlContext): BlockQueries['find'] {
  return defineQuery(
    (given) =>
      build
        .selectFrom('organization_blocks')
        .select('note')
        .select([columns.number('blocked_at').as('blockedAt'), columns.idOrNull('blocked_by').as('blockedBy')])
        .where('organization_id', '=', ids.given('organization', given('organizationId')))
        .where('user_id', '=', ids.given('user', given('userId'))),
    'at most one',
  )
}

function insertQuery({ build, ids }: SqlContext): BlockQueries['insert'] {
  return defineQuery((given) =>
    build.insertInto('organization_blocks').values({
      organization_id: ids.given('organization', given('organizationId')),
      user_id: ids.given('user', given('userId')),
      seq: given('seq'),
      note: given('note'),
      blocked_at: given('blockedAt').as(toMilliseconds),
      blocked_by: ids.given('user', given('blockedBy')),
    }),
  )
}

function updateQuery({ build, ids }: SqlContext): BlockQueries['update'] {
  return defineQuery((given) =>
    build
      .updateTable('organization_blocks')
      .set({
        note: given('note'),
        blocked_at: given('blockedAt').as(toMilliseconds),
        blocked_by: ids.given('user', given('blockedBy')),
      })
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )
}

function removeQuery({ build, ids }: SqlContext): BlockQueries['remove'] {
  return defineQuery((given) =>
    build
      .deleteFrom('organization_blocks')
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )
}

function blockingQuery({ build, ids, columns }: SqlContext): BlockQueries['blocking'] {
  return defineQuery((given) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.id('organization_id').as('organizationId'))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )
}

function removeOfQuery({ build, ids, columns }: SqlContext): BlockQueries['removeOf'] {
  return defineQuery((given) =>
    build
      .deleteFrom('organization_blocks')
      .where('user_id', '=', ids.given('user', given('userId')))
      .returning(columns.id('organization_id').as('organizationId')),
  )
}

function removeByQuery({ build, ids }: SqlContext): BlockQueries['removeBy'] {
  return defineQuery((given) =>
    build
      .deleteFrom('organization_blocks')
      .where('organization_id', '=', ids.given('organization', given('organizationId'))),
  )
}

function amongQuery({ build, ids, columns }: SqlContext): BlockQueries['among'] {
  return defineQuery((given) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.id('user_id').as('userId'))
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', 'in', ids.givenList('user', given('userIds'))),
  )
}
