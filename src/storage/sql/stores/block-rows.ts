import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { BlockFacts } from '../../../schema/records.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import { ALWAYS, existsIn, insertReferring, livesIn, withActors } from '../host/references.ts'
import type { Query, QueryValues, Slot } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { StoreParts } from './aggregate.ts'
import type { HeadKey } from './heads.ts'
import type { PageReader, Slice } from './pages.ts'
import { pageReader } from './pages.ts'

/** The tables of blocks: who blocks, and the column of that. */
const BLOCK_TABLES = {
  organization_blocks: { thing: 'organization', column: 'organization_id' },
  blocks_by_users: { thing: 'user', column: 'blocker_id' },
} as const
type BlockTable = keyof typeof BLOCK_TABLES

/** What the statements return of a block whose key is known. */
export type StoredBlock = Pick<Row<BlockTable>, 'note' | 'blockedAt' | 'blockedBy'>

/** Who blocks. */
export interface BlockerKey {
  readonly blocker: Id
}

/** Who blocks, and who is blocked. */
export interface BlockIds extends BlockerKey {
  readonly userId: Id
}

/** What a page shows of each block. */
const SHOWN = ['userId', 'note', 'blockedAt', 'blockedBy'] as const

/** The statements on one table of blocks. */
export interface BlockRows<B extends BlockFacts> {
  readonly insert: Query<BlockIds & BlockFacts & { readonly seq: number }, unknown>
  readonly update: Query<BlockIds & BlockFacts, unknown>
  readonly remove: Query<BlockIds, unknown>
  /** Finds who blocks a user. */
  readonly blocking: Query<{ readonly userId: Id }, BlockerKey>
  /** Removes the blocks of a user. */
  readonly removeOf: Query<{ readonly userId: Id }, BlockerKey>
  /** Removes the blocks by an organization or a user. */
  readonly removeBy: Query<BlockerKey, { readonly userId: Id }>
  /** Counts the blocks by an organization or a user, hidden ones too. */
  readonly count: Query<BlockerKey, { readonly total: number }>
  readonly among: Query<BlockerKey & { readonly userIds: readonly Id[] }, { readonly userId: Id }>
  readonly page: PageReader<BlockerKey, B>
}

/**
 * Returns the statements on one table of blocks.
 *
 * @param toBlock - makes a block of who blocks, who is blocked, and what is stored
 */
export function blockRows<B extends BlockFacts, Tx>(
  { context, references, heads }: StoreParts<Tx>,
  table: BlockTable,
  toBlock: (blocker: Id, userId: Id, stored: StoredBlock) => B,
): BlockRows<B> {
  const { build, ids, columns } = context
  const { thing, column } = BLOCK_TABLES[table]
  const fields = fieldsOf(context, table)
  const blocker = columns.id(column).as('blocker')
  const given = <P extends BlockerKey>(values: QueryValues<P>) => ids.given(thing, values('blocker'))
  const isBy = <P extends BlockerKey>(values: QueryValues<P>) => isBlocker(context, table, values('blocker'))
  const isBlockedAlive = isUserAlive(context, table)

  const counted = <P extends BlockerKey>(values: QueryValues<P>) =>
    build.selectFrom(table).select(columns.count().as('total')).where(isBy(values))

  const owner = (values: QueryValues<BlockerKey & HeadKey & Slice>) => ({
    exists: references.has(thing) ? existsIn(context, { thing }, given(values)) : heads.isNotRetired(values),
    total: counted(values).where(isBlockedAlive),
  })

  return {
    insert: defineQuery((values: QueryValues<BlockIds & BlockFacts & { readonly seq: number }>) =>
      insertReferring(context, table, {
        [column]: given(values),
        ...fields.written(values, 'userId', 'seq', 'note', 'blockedAt', 'blockedBy'),
      }),
    ),
    update: defineQuery((values: QueryValues<BlockIds & BlockFacts>) =>
      build
        .updateTable(table)
        .set(withActors(context, table, fields.written(values, 'note', 'blockedAt', 'blockedBy')))
        .where(isBy(values))
        .where(fields.are(values, 'userId')),
    ),
    remove: defineQuery((values: QueryValues<BlockIds>) =>
      build.deleteFrom(table).where(isBy(values)).where(fields.are(values, 'userId')),
    ),
    blocking: defineQuery((values: QueryValues<{ readonly userId: Id }>) =>
      build.selectFrom(table).select(blocker).where(fields.are(values, 'userId')),
    ),
    removeOf: defineQuery(
      (values: QueryValues<{ readonly userId: Id }>) =>
        build.deleteFrom(table).where(fields.are(values, 'userId')).returning(blocker),
      { mayTakeLong: true },
    ),
    removeBy: defineQuery(
      (values: QueryValues<BlockerKey>) => build.deleteFrom(table).where(isBy(values)).returning(fields.read('userId')),
      { mayTakeLong: true },
    ),
    count: defineQuery((values: QueryValues<BlockerKey>) => counted(values)),
    among: defineQuery((values: QueryValues<BlockerKey & { readonly userIds: readonly Id[] }>) =>
      selectAmong(context, table, values('blocker'), values('userIds')),
    ),
    page: pageReader(context, {
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
    }),
  }
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
