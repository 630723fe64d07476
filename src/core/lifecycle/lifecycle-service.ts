import { needObject } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { IssueRef } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import type { Retired } from '../../storage/contract/storage.ts'
import type { Call } from '../call.ts'
import { answerOf, writeContext } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor } from '../ports.ts'
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
  /** Reports that an issue was deleted. Removes it from its board and closes the gap. It can never be pinned again. */
  issueDeleted(issue: IssueRef): Promise<void>
  /**
   * Reports that a user becomes a member of an organization.
   * @throws ForgeError `ALREADY_BLOCKED` when the organization blocks the user: unblock the user first
   */
  memberAdded(member: { readonly organizationId: IdInput; readonly userId: IdInput }): Promise<void>
}

/** The methods of the lifecycle service. Each runs one call. */
export class LifecycleServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  userDeleted(call: Call<A, Tx>, userId: IdInput): MaybePromise<void> {
    return this.#retire(call, { thing: 'user', userId: toId(userId, 'userId') })
  }

  organizationDeleted(call: Call<A, Tx>, organizationId: IdInput): MaybePromise<void> {
    return this.#retire(call, { thing: 'organization', organizationId: toId(organizationId, 'organizationId') })
  }

  repositoryDeleted(call: Call<A, Tx>, repositoryId: IdInput): MaybePromise<void> {
    return this.#retire(call, { thing: 'repository', repositoryId: toId(repositoryId, 'repositoryId') })
  }

  issueDeleted(call: Call<A, Tx>, issue: IssueRef): MaybePromise<void> {
    needObject(issue, 'issue', "{ id: 7, repositoryId: 10, kind: 'issue' }")
    if (issue.kind !== 'issue' && issue.kind !== 'pullRequest') {
      throw new TypeError("issue.kind must be 'issue' or 'pullRequest'")
    }
    return this.#retire(call, {
      thing: 'issue',
      issueId: toId(issue.id, 'issue.id'),
      repositoryId: toId(issue.repositoryId, 'issue.repositoryId'),
      kind: issue.kind,
    })
  }

  memberAdded(
    call: Call<A, Tx>,
    member: { readonly organizationId: IdInput; readonly userId: IdInput },
  ): MaybePromise<void> {
    needObject(member, 'member', '{ organizationId: 5, userId: 9 }')
    const key = {
      organizationId: toId(member.organizationId, 'member.organizationId'),
      userId: toId(member.userId, 'member.userId'),
    }
    const outcome = this.#environment.storage.blocks.update(key, {
      expectedEpoch: undefined,
      decide: assertNotBlocked,
      raisesEpoch: true,
      ...writeContext(this.#environment, call),
    })
    return after(answerOf(call, outcome), () => undefined)
  }

  #retire(call: Call<A, Tx>, retired: Retired): MaybePromise<void> {
    const written = this.#environment.storage.retire({
      retired,
      record: (removed) => retirementEvent(retired, removed),
      ...writeContext(this.#environment, call),
    })
    return after(answerOf(call, written), (events) => call.announce(events))
  }
}
