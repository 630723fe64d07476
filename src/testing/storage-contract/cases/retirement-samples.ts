import type { ForgeErrorCode } from '../../../index.ts'
import type { ForgeStorage, PinBoardKey, Retired } from '../../../storage/storage.ts'
import { blockedBy, issuesOn, slugsHeldBy } from './contents.ts'
import { BOARD, block, define, grant, importIssues, pin, revoke, unblock, unpin } from './sample-changes.ts'

/** The board of pull requests next to the board of issues. */
export const PULLS: PinBoardKey = { repositoryId: '10', kind: 'pullRequest' }
/** A board of another repository. */
export const OTHER: PinBoardKey = { repositoryId: '11', kind: 'issue' }

/** A user to retire. */
export const USER: Retired = { thing: 'user', userId: '30' }
export const ORGANIZATION: Retired = { thing: 'organization', organizationId: '20' }
export const REPOSITORY: Retired = { thing: 'repository', repositoryId: '10' }
export const ISSUE: Retired = { thing: 'issue', issueId: '2', repositoryId: '10', kind: 'issue' }

/** One subject of each kind. */
export const THINGS: readonly Retired[] = [USER, ORGANIZATION, REPOSITORY, ISSUE]

/** Fills boards, blocks and user badges, so that every subject has dependent data. */
export async function fill<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  for (const slug of ['a', 'b']) await define(storage, slug)
  for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
  for (const issueId of ['2', '4']) await pin(storage, PULLS, issueId)
  await pin(storage, OTHER, '9')
  for (const userId of ['31', '30', '32']) await block(storage, '20', userId)
  for (const userId of ['30', '31']) await block(storage, '21', userId)
  await grant(storage, '30', ['a', 'b'])
  await grant(storage, '31', ['a'])
}

/** Returns what remains of the boards, the blocks and the badges of one user. */
export async function summary<Tx>(storage: ForgeStorage<Tx>): Promise<object> {
  return {
    boards: await Promise.all([BOARD, PULLS, OTHER].map((board) => issuesOn(storage, board))),
    blocks: await Promise.all(['20', '21'].map((organizationId) => blockedBy(storage, organizationId))),
    held: await slugsHeldBy(storage, '31'),
  }
}

/** Returns the calls that a storage refuses for a retired subject, with their error codes. */
export function refusedAfter<Tx>(
  storage: ForgeStorage<Tx>,
  retired: Retired,
): readonly (readonly [ForgeErrorCode, () => unknown])[] {
  if (retired.thing === 'issue') return [['ISSUE_NOT_FOUND', () => pin(storage, BOARD, '2')]]
  if (retired.thing === 'user') {
    return [
      ['USER_NOT_FOUND', () => block(storage, '20', '30')],
      ['USER_NOT_FOUND', () => block(storage, '99', '30')],
      ['USER_NOT_FOUND', () => unblock(storage, '20', '30')],
      ['USER_NOT_FOUND', () => grant(storage, '30', ['a'])],
      ['USER_NOT_FOUND', () => grant(storage, '30', [])],
      ['USER_NOT_FOUND', () => revoke(storage, '30', ['a'])],
      ['USER_NOT_FOUND', () => storage.userBadges.heldBy('30')],
    ]
  }
  if (retired.thing === 'organization') {
    return [
      ['ORGANIZATION_NOT_FOUND', () => block(storage, '20', '31')],
      ['ORGANIZATION_NOT_FOUND', () => block(storage, '20', '77')],
      ['ORGANIZATION_NOT_FOUND', () => unblock(storage, '20', '31')],
      ['ORGANIZATION_NOT_FOUND', () => storage.blocks.page('20', { from: { page: 1 }, limit: 30 })],
    ]
  }

  return [
    ...[BOARD, PULLS].flatMap((board) => [
      ['REPOSITORY_NOT_FOUND', () => pin(storage, board, '77')] as const,
      ['REPOSITORY_NOT_FOUND', () => unpin(storage, board, '1')] as const,
      ['REPOSITORY_NOT_FOUND', () => storage.pinBoards.load(board)] as const,
    ]),
    ['REPOSITORY_NOT_FOUND', () => importIssues(storage, '10')],
  ]
}
