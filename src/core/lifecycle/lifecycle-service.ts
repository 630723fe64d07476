import { needObject } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { EventDraft, IssueRef } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { Removed, Retired } from '../../storage/contract/storage.ts'
import { toBoardIssue } from '../board-issue.ts'
import type { Call, MaybeAsync, Scope } from '../call.ts'
import { writeContext } from '../call.ts'
import { hostMethod } from '../method.ts'
import { assertNotBlocked, retirementEvent } from './lifecycle-rules.ts'

/**
 * Lifecycle calls, by which the host reports its own deletions and new members. Make them inside the host's
 * transaction, so that no row refers to a deleted object and no decision is based on one. Reporting the same thing
 * twice changes nothing.
 * Source: docs/storage.md, section 2.
 */
export interface LifecycleService {
  /** Reports that a user was deleted. Removes the blocks of the user and the grants to the user. */
  userDeleted(userId: IdInput): Promise<void>
  /** Reports that an organization was deleted. Removes its blocks. Report its repositories one by one. */
  organizationDeleted(organizationId: IdInput): Promise<void>
  /** Reports that a repository was deleted. Removes its pins. */
  repositoryDeleted(repositoryId: IdInput): Promise<void>
  /**
   * Reports that an issue was deleted. Removes it from every board that has it, also in another repository or of the other
   * kind, and closes the gaps. It can never be pinned again.
   */
  issueDeleted(issue: IssueRef): Promise<void>
  /**
   * Reports that a user becomes a member of an organization.
   * @throws ForgeError `ALREADY_BLOCKED` when the organization blocks the user: unblock the user first
   */
  memberAdded(member: { readonly organizationId: IdInput; readonly userId: IdInput }): Promise<void>
}

/** Creates the lifecycle service of a scope. Its calls are those of the host's own code. */
export function lifecycleService(scope: Scope): MaybeAsync<LifecycleService> {
  const { storage } = scope.environment

  return {
    userDeleted: hostMethod(scope, (call, userId) => retire(call, { thing: 'user', userId: toId(userId, 'userId') })),
    organizationDeleted: hostMethod(scope, (call, id) =>
      retire(call, { thing: 'organization', organizationId: toId(id, 'organizationId') }),
    ),
    repositoryDeleted: hostMethod(scope, (call, id) =>
      retire(call, { thing: 'repository', repositoryId: toId(id, 'repositoryId') }),
    ),
    issueDeleted: hostMethod(scope, (call, issue) => retire(call, { thing: 'issue', ...toBoardIssue(issue) })),
    memberAdded: hostMethod(scope, function* memberAdded(call, member) {
      needObject(member, 'member', '{ organizationId: 5, userId: 9 }')
      const key = {
        organizationId: toId(member.organizationId, 'member.organizationId'),
        userId: toId(member.userId, 'member.userId'),
      }
      yield* wait(
        storage.blocks.update(key, {
          decide(state) {
            assertNotBlocked(state.block)
            return { state: { ...state, epoch: state.epoch + 1 }, events: [], result: undefined }
          },
          ...writeContext(scope, call),
        }),
      )
    }),
  }

  function* retire(call: Call, retired: Retired): SyncOrAsync<void> {
    const record = (removed: Removed): EventDraft => retirementEvent(retired, removed)
    scope.announce(yield* wait(storage.retire({ retired, record, ...writeContext(scope, call) })))
  }
}
