import type { Id } from '../../schema/ids.ts'
import type { PinBoardKey } from '../contract/pin-board-store.ts'
import type { Query } from './query.ts'
import { defineQuery } from './query.ts'
import type { SqlContext } from './sql-context.ts'
import { toMilliseconds } from './times.ts'

/** A pin as it is read. */
export interface StoredPin {
  readonly issueId: Id
  readonly pinnedAt: number
  readonly pinnedBy: Id | null
}

/** A pin as it is written. */
export interface PlacedPin extends PinBoardKey {
  readonly position: number
  readonly issueId: Id
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/** The statements of the pin boards. */
export interface PinBoardQueries {
  readonly load: Query<PinBoardKey, StoredPin>
  readonly insert: Query<PlacedPin, unknown>
  readonly removeRange: Query<PinBoardKey & { readonly first: number; readonly last: number }, unknown>
  readonly tombstones: Query<{ readonly issueIds: readonly Id[] }, { readonly issueId: Id }>
}

/** Defines the statements of the pin boards. */
export function pinBoardQueries(context: SqlContext): PinBoardQueries {
  return {
    load: loadQuery(context),
    insert: insertQuery(context),
    removeRange: removeRangeQuery(context),
    tombstones: tombstonesQuery(context),
  }
}

function loadQuery({ build, ids, columns }: SqlContext): PinBoardQueries['load'] {
  return defineQuery((given) =>
    build
      .selectFrom('board_pins')
      .select([
        columns.id('issue_id').as('issueId'),
        columns.number('pinned_at').as('pinnedAt'),
        columns.idOrNull('pinned_by').as('pinnedBy'),
      ])
      .where('repository_id', '=', ids.given('repository', given('repositoryId')))
      .where('kind', '=', given('kind'))
      .orderBy('position'),
  )
}

function insertQuery({ build, ids }: SqlContext): PinBoardQueries['insert'] {
  return defineQuery((given) =>
    build.insertInto('board_pins').values({
      repository_id: ids.given('repository', given('repositoryId')),
      kind: given('kind'),
      position: given('position'),
      issue_id: ids.given('issue', given('issueId')),
      pinned_at: given('pinnedAt').as(toMilliseconds),
      pinned_by: ids.given('user', given('pinnedBy')),
    }),
  )
}

function removeRangeQuery({ build, ids }: SqlContext): PinBoardQueries['removeRange'] {
  return defineQuery((given) =>
    build
      .deleteFrom('board_pins')
      .where('repository_id', '=', ids.given('repository', given('repositoryId')))
      .where('kind', '=', given('kind'))
      .where('position', '>=', given('first'))
      .where('position', '<=', given('last')),
  )
}

function tombstonesQuery({ build, ids, columns }: SqlContext): PinBoardQueries['tombstones'] {
  return defineQuery((given) =>
    build
      .selectFrom('issue_tombstones')
      .select(columns.id('issue_id').as('issueId'))
      .where('issue_id', 'in', ids.givenList('issue', given('issueIds'))),
  )
}
