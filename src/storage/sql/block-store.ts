import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Block } from '../../schema/records.ts'
import type { Steps } from '../../schema/steps.ts'
import type { BlockKey, BlockStore } from '../contract/block-store.ts'
import type { PageQuery } from '../contract/page-query.ts'
import type { Difference, SqlAggregate } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { BlockQueries, StoredBlock } from './block-queries.ts'
import { blockQueries } from './block-queries.ts'
import type { Head, HeadKey, Heads, RowBesideHead } from './heads.ts'
import { refuseRetired, splitHead } from './heads.ts'
import type { CountedRows, PagedList } from './pages.ts'
import { readPage } from './pages.ts'
import type { Statement } from './query.ts'
import type { Session } from './session.ts'
import { ask, askFirst, tell } from './session.ts'
import type { SqlContext } from './sql-context.ts'
import type { StoreParts } from './store-parts.ts'

/** The blocks of an SQL storage. */
export function sqlBlocks<Tx>(parts: StoreParts<Tx>): BlockStore<Tx> {
  const { context, runtime, heads } = parts
  const blocks = new Blocks(context, heads)

  return {
    ...aggregateStore(parts, blocks),
    find: (key, transaction) => runtime.read((session) => blocks.load(session, key), transaction),
    among: (organizationId, userIds, transaction) =>
      runtime.read((session) => blocks.among(session, organizationId, userIds), transaction),
    page: (organizationId, query, transaction) =>
      runtime.read((session) => blocks.page(session, organizationId, query), transaction),
  }
}

/** The blocks as aggregates: the organization's head fences them, and counts them. */
export class Blocks implements SqlAggregate<BlockKey, Block | undefined> {
  readonly #context: SqlContext
  readonly #heads: Heads
  readonly #queries: BlockQueries

  constructor(context: SqlContext, heads: Heads) {
    this.#context = context
    this.#heads = heads
    this.#queries = blockQueries(context)
  }

  own({ organizationId, userId }: BlockKey): BlockKey {
    return { organizationId, userId }
  }

  head({ organizationId }: { readonly organizationId: Id }): HeadKey {
    return { scope: 'organization', key: this.#context.ids.fitting('organization', organizationId) }
  }

  *lock(session: Session, key: BlockKey): Steps<Head> {
    const user = { scope: 'user', key: this.#context.ids.fitting('user', key.userId) } as const
    refuseRetired(yield* this.#heads.lock(session, user), 'user')
    const head = yield* this.#heads.lock(session, this.head(key))
    refuseRetired(head, 'organization')
    return head
  }

  *load(session: Session, key: BlockKey): Steps<Block | undefined> {
    const row = yield* askFirst(session, this.#queries.find(key))
    return row && toBlock(key.organizationId, row)
  }

  *among(session: Session, organizationId: Id, userIds: readonly Id[]): Steps<ReadonlySet<Id>> {
    const rows = yield* ask(session, this.#queries.among({ organizationId, userIds }))
    return new Set(rows.map((row) => row.userId))
  }

  *page(session: Session, organizationId: Id, query: PageQuery): Steps<Page<Block>> {
    const [heads, { slice, tail }] = [this.#heads, this.#queries]
    const key = { organizationId, ...this.head({ organizationId }) }

    const list: PagedList<StoredBlock, Block> = {
      start: 0,
      *count() {
        const head = yield* heads.find(session, key)
        refuseRetired(head, 'organization')
        return head.total
      },
      slice: (part) => readRows(session, slice({ ...key, ...part })),
      tail: (part) => readRows(session, tail({ ...key, ...part })),
      place: (row) => row.seq,
      item: (row) => toBlock(organizationId, row),
    }
    return yield* readPage(list, query)
  }

  *write(session: Session, key: BlockKey, { before, after, head }: Difference<Block | undefined>): Steps<Head> {
    if (after === undefined) {
      yield* tell(session, this.#queries.remove(key))
      return { ...head, total: head.total - 1 }
    }
    if (before !== undefined) {
      yield* tell(session, this.#queries.update({ ...after, ...key }))
      return head
    }

    yield* tell(session, this.#queries.insert({ ...after, ...key, seq: head.nextSeq }))
    return { ...head, total: head.total + 1, nextSeq: head.nextSeq + 1 }
  }
}

function* readRows(
  session: Session,
  statement: Statement<RowBesideHead<StoredBlock>>,
): Steps<CountedRows<StoredBlock>> {
  const found = splitHead(yield* ask(session, statement), 'seq')
  refuseRetired(found, 'organization')
  return found
}

function toBlock(organizationId: Id, { userId, note, blockedAt, blockedBy }: StoredBlock): Block {
  return { organizationId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}
