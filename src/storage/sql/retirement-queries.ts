import type { Id } from '../../schema/ids.ts'
import type { PinKind } from '../../schema/records.ts'
import type { PinBoardKey } from '../contract/pin-board-store.ts'
import type { UserKey } from './badge-case-queries.ts'
import type { OrganizationKey } from './block-queries.ts'
import type { Query } from './query.ts'
import { defineQuery, mayTakeLong } from './query.ts'
import type { SqlContext } from './sql-context.ts'

/** Names one issue. */
export interface IssueKey {
  readonly issueId: Id
}

/** The statements of retirements. */
export interface RetirementQueries {
  readonly organizationsBlocking: Query<UserKey, OrganizationKey>
  readonly removeBlocksOf: Query<UserKey, OrganizationKey>
  readonly removeBlocksBy: Query<OrganizationKey, unknown>
  readonly removeGrantsOf: Query<UserKey, { readonly badgeId: Id }>
  readonly boardsWith: Query<IssueKey & { readonly kind: PinKind }, PinBoardKey>
  /** Gives a row the first time only. */
  readonly entomb: Query<IssueKey, IssueKey>
}

/** Defines the statements of retirements. */
export function retirementQueries(context: SqlContext): RetirementQueries {
  return {
    organizationsBlocking: mayTakeLong(organizationsBlockingQuery(context)),
    removeBlocksOf: mayTakeLong(removeBlocksOfQuery(context)),
    removeBlocksBy: mayTakeLong(removeBlocksByQuery(context)),
    removeGrantsOf: mayTakeLong(removeGrantsOfQuery(context)),
    boardsWith: boardsWithQuery(context),
    entomb: entombQuery(context),
  }
}

function organizationsBlockingQuery({ build, ids, columns }: SqlContext): RetirementQueries['organizationsBlocking'] {
  return defineQuery((given) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.id('organization_id').as('organizationId'))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )
}

function removeBlocksOfQuery({ build, ids, columns }: SqlContext): RetirementQueries['removeBlocksOf'] {
  return defineQuery((given) =>
    build
      .deleteFrom('organization_blocks')
      .where('user_id', '=', ids.given('user', given('userId')))
      .returning(columns.id('organization_id').as('organizationId')),
  )
}

function removeBlocksByQuery({ build, ids }: SqlContext): RetirementQueries['removeBlocksBy'] {
  return defineQuery((given) =>
    build
      .deleteFrom('organization_blocks')
      .where('organization_id', '=', ids.given('organization', given('organizationId'))),
  )
}

function removeGrantsOfQuery({ build, ids, columns }: SqlContext): RetirementQueries['removeGrantsOf'] {
  return defineQuery((given) =>
    build
      .deleteFrom('user_grants')
      .where('user_id', '=', ids.given('user', given('userId')))
      .returning(columns.id('badge_id').as('badgeId')),
  )
}

function boardsWithQuery({ build, ids, columns }: SqlContext): RetirementQueries['boardsWith'] {
  return defineQuery((given) =>
    build
      .selectFrom('board_pins')
      .select([columns.id('repository_id').as('repositoryId'), 'kind'])
      .where('issue_id', '=', ids.given('issue', given('issueId')))
      .where('kind', '=', given('kind')),
  )
}

function entombQuery({ build, ids, dialect, columns }: SqlContext): RetirementQueries['entomb'] {
  return defineQuery((given) => {
    const tombstone = { issue_id: ids.given('issue', given('issueId')) }
    return dialect
      .skipExisting(build.insertInto('issue_tombstones').values(tombstone))
      .returning(columns.id('issue_id').as('issueId'))
  })
}
