import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { BlockFacts } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { Referred } from '../host/references.ts'
import { ALWAYS, existsIn, insertReferring, livesIn, withActors } from '../host/references.ts'
import type { QueryValues, Slot, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { StoreParts, Writing } from './aggregate.ts'
import { listWriting } from './aggregate.ts'
import type { Head, HeadKey } from './heads.ts'
import type { Slice } from './pages.ts'
import { pageReader } from './pages.ts'

/** The tables of blocks: who blocks, the column of that, and the head that counts the blocks. */
const BLOCK_TABLES = {
  organization_blocks: { thing: 'organization', column: 'organization_id', scope: 'organization' },
  blocks_by_users: { thing: 'user', column: 'blocker_id', scope: 'userBlocks' },
} as const
type BlockTable = keyof typeof BLOCK_TABLES

/** What the statements return of a block whose key is known. */
export type StoredBlock = Pick<Row<BlockTable>, 'note' | 'blockedAt' | 'blockedBy'>

/** Who blocks. */
interface BlockerKey {
  readonly blocker: Id
}

/** Who blocks, and who is blocked. */
export interface BlockIds extends BlockerKey {
  readonly userId: Id
}

/** A user. */
type UserKey = Pick<BlockIds, 'userId'>

/** What a page shows of each block. */
const SHOWN = ['userId', 'note', 'blockedAt', 'blockedBy'] as const

/** What was removed with a user. */
interface RemovedBlocks {
  readonly count: number
  /** The heads that were locked. */
  readonly locked: readonly Head[]
  /** Those of them that have changed, to be saved. */
  readonly heads: readonly Head[]
}

/** The blocks in one table. */
export interface BlockRows<B extends BlockFacts, Tx> {
  /** Returns the key of the head of an organization or a user that blocks. */
  headOf(blocker: Id): HeadKey
  /** As in `SqlAggregate`. */
  locks(ids: BlockIds): readonly HeadKey[]
  /** As in `SqlAggregate`. */
  refers(ids: BlockIds): readonly Referred[]
  /** Returns what adds, changes or removes a block. */
  writing(ids: BlockIds, head: Head, before: B | undefined, after: B | undefined): Writing
  /**
   * Removes the blocks of a locked user. The snapshot of a host's transaction may be older than the lock on the user: what was
   * removed counts.
   *
   * @param known - heads to lock too
   */
  removeOf(session: Session, userId: Id, known?: readonly HeadKey[]): SyncOrAsync<RemovedBlocks>
  /** Removes the blocks by an organization or a user, and returns whom these blocked. */
  removingBy(blocker: Id): Statement<UserKey>
  /** Counts the blocks by an organization or a user, hidden ones too. */
  counting(blocker: Id): Statement<{ readonly total: number }>
  among(blocker: Id, userIds: readonly Id[], transaction: Tx | undefined): MaybePromise<ReadonlySet<Id>>
  page(blocker: Id, query: PageQuery, transaction: Tx | undefined): MaybePromise<Page<B>>
}

/**
 * Returns the blocks in one table.
 *
 * @param toBlock - makes a block of who blocks, who is blocked, and what is stored
 */
export function blockRows<B extends BlockFacts, Tx>(
  { context, runtime, references, heads }: StoreParts<Tx>,
  table: BlockTable,
  toBlock: (blocker: Id, userId: Id, stored: StoredBlock) => B,
): BlockRows<B, Tx> {
  const { build, ids, columns } = context
  const { thing, column, scope } = BLOCK_TABLES[table]
  const fields = fieldsOf(context, table)
  const blocker = columns.id(column).as('blocker')
  const given = <P extends BlockerKey>(values: QueryValues<P>) => ids.given(thing, values('blocker'))
  const isBy = <P extends BlockerKey>(values: QueryValues<P>) => isBlocker(context, table, values('blocker'))
  const isBlockedAlive = isUserAlive(context, table)

  const insert = defineQuery((values: QueryValues<BlockIds & BlockFacts & { readonly seq: number }>) =>
    insertReferring(context, table, {
      [column]: given(values),
      ...fields.written(values, 'userId', 'seq', 'note', 'blockedAt', 'blockedBy'),
    }),
  )
  const update = defineQuery((values: QueryValues<BlockIds & BlockFacts>) =>
    build
      .updateTable(table)
      .set(withActors(context, table, fields.written(values, 'note', 'blockedAt', 'blockedBy')))
      .where(isBy(values))
      .where(fields.are(values, 'userId')),
  )
  const remove = defineQuery((values: QueryValues<BlockIds>) =>
    build.deleteFrom(table).where(isBy(values)).where(fields.are(values, 'userId')),
  )
  const blocking = defineQuery((values: QueryValues<UserKey>) =>
    build.selectFrom(table).select(blocker).where(fields.are(values, 'userId')),
  )
  const removeOfUser = defineQuery(
    (values: QueryValues<UserKey>) => build.deleteFrom(table).where(fields.are(values, 'userId')).returning(blocker),
    { mayTakeLong: true },
  )
  const removeByBlocker = defineQuery(
    (values: QueryValues<BlockerKey>) => build.deleteFrom(table).where(isBy(values)).returning(fields.read('userId')),
    { mayTakeLong: true },
  )
  const counted = <P extends BlockerKey>(values: QueryValues<P>) =>
    build.selectFrom(table).select(columns.count().as('total')).where(isBy(values))
  const count = defineQuery((values: QueryValues<BlockerKey>) => counted(values))
  const among = defineQuery((values: QueryValues<BlockerKey & { readonly userIds: readonly Id[] }>) =>
    selectAmong(context, table, values('blocker'), values('userIds')),
  )
  const owner = (values: QueryValues<BlockerKey & HeadKey & Slice>) => ({
    exists: references.has(thing) ? existsIn(context, { thing }, given(values)) : heads.isNotRetired(values),
    total: counted(values).where(isBlockedAlive),
  })
  const page = pageReader(context, {
    fields: SHOWN,
    rows: (values: QueryValues<BlockerKey & HeadKey & Slice>) =>
      build
        .selectFrom(table)
        .select([columns.number('seq').as('sortKey'), ...fields.read(...SHOWN)])
        .where(isBy(values))
        .where('seq', '>', values('after'))
        .where(isBlockedAlive)
        .orderBy('seq')
        .limit(values('limit'))
        .offset(values('offset')),
    toItem: (row, key) => toBlock(key.blocker, row.userId, row),
    owner: references.has(thing) || references.has('user') ? owner : undefined,
  })

  const headOf = (id: Id): HeadKey => heads.of(scope, id)
  const refers = ({ blocker: id, userId }: BlockIds): readonly Referred[] => [
    { thing: 'user', id: userId },
    { thing, id },
  ]

  return {
    headOf,
    locks: ({ blocker: id, userId }) =>
      references.has('user') ? [headOf(id)] : [heads.of('user', userId), headOf(id)],
    refers,
    writing: (key, head, before, after) =>
      listWriting(
        head,
        before,
        after,
        {
          insert: (added) => insert({ seq: head.nextSeq, ...added, ...key }),
          update: (changed) => update({ ...changed, ...key }),
          remove: () => remove(key),
        },
        () => refers(key),
      ),

    *removeOf(session, userId, known = []) {
      const { found: locked } = yield* heads.lockFound(session, blocking({ userId }), {
        headOf: (row) => headOf(row.blocker),
        known,
      })
      const removed = yield* query(session, removeOfUser({ userId }))
      const names = new Set(removed.map((row) => row.blocker))
      const changed = locked.filter(({ key }) => names.has(key))
      return { count: removed.length, locked, heads: changed.map((head) => ({ ...head, total: head.total - 1 })) }
    },
    removingBy: (id) => removeByBlocker({ blocker: id }),
    counting: (id) => count({ blocker: id }),
    among: (id, userIds, transaction) =>
      runtime.read((session) => after(session.all(among({ blocker: id, userIds })), idsIn), transaction),
    page: (id, query, transaction) =>
      runtime.read((session) => page(session, { blocker: id, ...headOf(id) }, query), transaction),
  }
}

/** Returns the ids of users as a set. */
export function idsIn(users: readonly UserKey[]): ReadonlySet<Id> {
  return new Set(users.map(({ userId }) => userId))
}

/** Selects the block of a user. It takes the key of the store, because it is the most frequent query. */
export function selectBlock<P extends { readonly userId: Id }>(
  context: SqlContext,
  table: BlockTable,
  blocker: Slot<P, Id>,
  given: QueryValues<P>,
): SelectQueryBuilder<Tables, BlockTable, StoredBlock> {
  const fields = fieldsOf(context, table)
  return context.build
    .selectFrom(table)
    .select(fields.read('note', 'blockedAt', 'blockedBy'))
    .where(isBlocker(context, table, blocker))
    .where(fields.are(given, 'userId'))
    .where(isAlive(context, table))
}

/** Selects those of some users whom an organization or a user blocks. */
export function selectAmong<P>(
  context: SqlContext,
  table: BlockTable,
  blocker: Slot<P, Id>,
  userIds: Slot<P, readonly Id[]>,
): SelectQueryBuilder<Tables, BlockTable, { userId: Id }> {
  const { build, ids } = context
  return build
    .selectFrom(table)
    .select(fieldsOf(context, table).read('userId'))
    .where(isBlocker(context, table, blocker))
    .where('user_id', 'in', ids.givenList('user', userIds))
    .where(isAlive(context, table))
}

function isBlocker<P>({ ids }: SqlContext, table: BlockTable, blocker: Slot<P, Id>): RawBuilder<SqlBool> {
  const { thing, column } = BLOCK_TABLES[table]
  return sql`${sql.ref(column)} = ${ids.given(thing, blocker)}`
}

/** The condition that both who blocks and who is blocked exist for the forge. */
function isAlive(context: SqlContext, table: BlockTable): RawBuilder<SqlBool> {
  const { thing, column } = BLOCK_TABLES[table]
  return sql`${isUserAlive(context, table)} and ${livesIn(context, thing, table, column) ?? ALWAYS}`
}

function isUserAlive(context: SqlContext, table: BlockTable): RawBuilder<SqlBool> {
  return livesIn(context, 'user', table) ?? ALWAYS
}
