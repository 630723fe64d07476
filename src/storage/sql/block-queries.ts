import type { Id } from '../../schema/ids.ts'
import type { Block } from '../../schema/records.ts'
import type { BlockKey } from '../contract/block-store.ts'
import type { Columns } from './columns.ts'
import type { HeadKey, RowBesideHead } from './heads.ts'
import { columnsBesideRows } from './heads.ts'
import type { Slice, Tail } from './pages.ts'
import type { Query } from './query.ts'
import { defineQuery } from './query.ts'
import type { SqlContext } from './sql-context.ts'
import { toMilliseconds } from './times.ts'

/** A block as it is read. */
export interface StoredBlock {
  readonly seq: number
  readonly userId: Id
  readonly note: string
  readonly blockedAt: number
  readonly blockedBy: Id | null
}

/** Names one organization. */
export interface OrganizationKey {
  readonly organizationId: Id
}

/** The statements of the blocks. */
export interface BlockQueries {
  readonly find: Query<BlockKey, StoredBlock>
  readonly insert: Query<Block & { readonly seq: number }, unknown>
  readonly update: Query<Block, unknown>
  readonly remove: Query<BlockKey, unknown>
  readonly among: Query<OrganizationKey & { readonly userIds: readonly Id[] }, { readonly userId: Id }>
  readonly slice: Query<OrganizationKey & HeadKey & Slice, RowBesideHead<StoredBlock>>
  readonly tail: Query<OrganizationKey & HeadKey & Tail, RowBesideHead<StoredBlock>>
}

/** Defines the statements of the blocks. */
export function blockQueries(context: SqlContext): BlockQueries {
  return {
    find: findQuery(context),
    insert: insertQuery(context),
    update: updateQuery(context),
    remove: removeQuery(context),
    among: amongQuery(context),
    slice: sliceQuery(context),
    tail: tailQuery(context),
  }
}

function ownColumns(columns: Columns) {
  return [columns.number('seq').as('seq'), 'note', columns.number('blocked_at').as('blockedAt')] as const
}

function findQuery({ build, ids, columns }: SqlContext): BlockQueries['find'] {
  return defineQuery((given) =>
    build
      .selectFrom('organization_blocks')
      .select([
        ...ownColumns(columns),
        columns.id('user_id').as('userId'),
        columns.idOrNull('blocked_by').as('blockedBy'),
      ])
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', '=', ids.given('user', given('userId'))),
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

function amongQuery({ build, ids, columns }: SqlContext): BlockQueries['among'] {
  return defineQuery((given) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.id('user_id').as('userId'))
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', 'in', ids.givenList('user', given('userIds'))),
  )
}

// Both find the places on the narrow index first: skipping whole rows costs thirty times as much. The head is in the same
// statement, since the next may see another state.

function sliceQuery({ build, ids, columns }: SqlContext): BlockQueries['slice'] {
  return defineQuery((given) => {
    const organizationId = ids.given('organization', given('organizationId'))
    const places = build
      .selectFrom('organization_blocks')
      .select('seq as place')
      .where('organization_id', '=', organizationId)
      .where('seq', '>', given('after'))
      .orderBy('seq')
      .limit(given('limit'))
      .offset(given('offset'))

    return build
      .selectFrom('heads')
      .leftJoin(places.as('page'), (join) => join.onTrue())
      .leftJoin('organization_blocks', (join) =>
        join.onRef('organization_blocks.seq', '=', 'page.place').on('organization_id', '=', organizationId),
      )
      .select([
        ...columnsBesideRows(columns),
        ...ownColumns(columns),
        columns.id('user_id').as('userId'),
        columns.idOrNull('blocked_by').as('blockedBy'),
      ])
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key'))
      .orderBy('page.place')
  })
}

function tailQuery({ build, ids, columns }: SqlContext): BlockQueries['tail'] {
  return defineQuery((given) => {
    const organizationId = ids.given('organization', given('organizationId'))
    const places = build
      .selectFrom('organization_blocks')
      .select('seq as place')
      .where('organization_id', '=', organizationId)
      .orderBy('seq', 'desc')
      .limit(given('limit'))
      .offset(given('offset'))

    return build
      .selectFrom('heads')
      .leftJoin(places.as('page'), (join) => join.onTrue())
      .leftJoin('organization_blocks', (join) =>
        join.onRef('organization_blocks.seq', '=', 'page.place').on('organization_id', '=', organizationId),
      )
      .select([
        ...columnsBesideRows(columns),
        ...ownColumns(columns),
        columns.id('user_id').as('userId'),
        columns.idOrNull('blocked_by').as('blockedBy'),
      ])
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key'))
      .orderBy('page.place', 'desc')
  })
}
