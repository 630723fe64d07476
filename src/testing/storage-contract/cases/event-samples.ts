import type { ForgeEvent } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { BOARD, block, define, grant, moveToFront, pin, retire, unblock, unpin } from './sample-changes.ts'

/** Makes a change of every kind, with several actors. */
export async function everyKindOfChange<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  await define(storage, 'night-owl')
  await pin(storage, BOARD, '1')
  await pin(storage, { repositoryId: '11', kind: 'pullRequest' }, '2', { by: { actorId: null, at: () => new Date(5) } })
  await pin(storage, BOARD, '3')
  await moveToFront(storage, BOARD, '3')
  await unpin(storage, BOARD, '1')
  await block(storage, '20', '30', { note: 'spam 🐟' })
  await block(storage, '21', '30', { by: { actorId: '8', at: () => new Date(6) } })
  await unblock(storage, '20', '30')
  await grant(storage, '30', ['night-owl'])
  await retire(storage, { thing: 'issue', issueId: '3', ...BOARD }, { by: { actorId: null, at: () => new Date(7) } })
  await retire(storage, { thing: 'user', userId: '30' })
  await retire(storage, { thing: 'organization', organizationId: '20' })
  await retire(storage, { thing: 'repository', repositoryId: '11' })
}

/** Returns an event without the fields that differ between runs. */
export function summaryOf(event: ForgeEvent): readonly unknown[] {
  const { type, data, organizationId, repositoryId, issueId, userId, actorId } = event
  return [type, data, organizationId, repositoryId, issueId, userId, actorId]
}

/** The fields of the events of `everyKindOfChange`, without those that differ between runs. */
export const EXPECTED_EVENTS: readonly (readonly unknown[])[] = [
  ['badge.defined', { slug: 'night-owl' }, null, null, null, null, '7'],
  ['issue.pinned', { position: 1 }, null, '10', '1', null, '7'],
  ['issue.pinned', { position: 1 }, null, '11', '2', null, null],
  ['issue.pinned', { position: 2 }, null, '10', '3', null, '7'],
  ['issue.moved', { from: 2, to: 1 }, null, '10', '3', null, '7'],
  ['issue.unpinned', { position: 2 }, null, '10', '1', null, '7'],
  ['user.blocked', { note: 'spam 🐟' }, '20', null, null, '30', '7'],
  ['user.blocked', { note: '' }, '21', null, null, '30', '8'],
  ['user.unblocked', {}, '20', null, null, '30', '7'],
  ['badge.granted', { slug: 'night-owl' }, null, null, null, '30', '7'],
  ['issue.deleted', { wasPinned: true }, null, '10', '3', null, null],
  ['user.deleted', { blocks: 1, grants: 1 }, null, null, null, '30', '7'],
  ['organization.deleted', { blocks: 0 }, '20', null, null, null, '7'],
  ['repository.deleted', { pins: 1 }, null, '11', null, null, '7'],
]
