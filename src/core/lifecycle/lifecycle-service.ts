import { needObject } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { IssueRef } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { Retired } from '../../storage/contract/storage.ts'
import type { Call } from '../call.ts'
import { writeContext } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor } from '../ports.ts'
import { assertNotBlocked, retirementEvent } from './lifecycle-rules.ts'

/** The methods of the lifecycle service, as generators that run one call each. */
export class LifecycleServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  *userDeleted(call: Call<A, Tx>, userId: IdInput): SyncOrAsync<void> {
    yield* this.#retire(call, { thing: 'user', userId: toId(userId, 'userId') })
  }

  *organizationDeleted(call: Call<A, Tx>, organizationId: IdInput): SyncOrAsync<void> {
    yield* this.#retire(call, { thing: 'organization', organizationId: toId(organizationId, 'organizationId') })
  }

  *repositoryDeleted(call: Call<A, Tx>, repositoryId: IdInput): SyncOrAsync<void> {
    yield* this.#retire(call, { thing: 'repository', repositoryId: toId(repositoryId, 'repositoryId') })
  }

  *issueDeleted(call: Call<A, Tx>, issue: IssueRef): SyncOrAsync<void> {
    needObject(issue, 'issue', "{ id: 7, repositoryId: 10, kind: 'issue' }")
    if (issue.kind !== 'issue' && issue.kind !== 'pullRequest') {
      throw new TypeError("issue.kind must be 'issue' or 'pullRequest'")
    }
    yield* this.#retire(call, {
      thing: 'issue',
      issueId: toId(issue.id, 'issue.id'),
      repositoryId: toId(issue.repositoryId, 'issue.repositoryId'),
      kind: issue.kind,
    })
  }

  *memberAdded(
    call: Call<A, Tx>,
    member: { readonly organizationId: IdInput; readonly userId: IdInput },
  ): SyncOrAsync<void> {
    needObject(member, 'member', '{ organizationId: 5, userId: 9 }')
    const key = {
      organizationId: toId(member.organizationId, 'member.organizationId'),
      userId: toId(member.userId, 'member.userId'),
    }
    yield* wait(
      this.#environment.storage.blocks.update(key, {
        expectedEpoch: undefined,
        decide: assertNotBlocked,
        raisesEpoch: true,
        ...writeContext(this.#environment, call),
      }),
    )
  }

  *#retire(call: Call<A, Tx>, retired: Retired): SyncOrAsync<void> {
    const events = yield* wait(
      this.#environment.storage.retire({
        retired,
        record: (removed) => retirementEvent(retired, removed),
        ...writeContext(this.#environment, call),
      }),
    )
    call.announce(events)
  }
}
