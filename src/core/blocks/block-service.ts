import { needObject } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { AccountRef, Block } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { checkText } from '../../schema/text.ts'
import type { BlockKey } from '../../storage/contract/stores.ts'
import { asksPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { actorIdOf, answerOf, portContext } from '../call.ts'
import { change } from '../change.ts'
import type { Environment } from '../environment.ts'
import { toPageQuery } from '../page-query.ts'
import type { Actor } from '../ports.ts'
import { withSubjects } from '../subject.ts'
import type { BlockTarget } from './block-rules.ts'
import { blockUser, refuseOrganization, refuseTarget, unblockUser } from './block-rules.ts'

/** The input of `block` and `unblock`. */
export interface BlockRequest {
  readonly organizationId: IdInput
  readonly account: AccountRef
  readonly note?: string | undefined
}

const TARGET_EXAMPLE = "{ organizationId: 5, account: { kind: 'user', id: 9 } }"

/** The methods of the block service, as generators that run one call each. */
export class BlockServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  *block(call: Call<A, Tx>, request: BlockRequest): SyncOrAsync<Block> {
    needObject(request, 'target', TARGET_EXAMPLE)
    const environment = this.#environment
    const target = toTarget(request.account)
    const key = toKey(request.organizationId, target.id)
    const blockedBy = actorIdOf(call.actor)
    const note = request.note ?? ''

    return yield* change(environment, call, {
      store: environment.storage.blocks,
      key,
      fenced: true,
      *ask() {
        yield* authorize(environment, call, { action: 'blocks.write', organizationId: key.organizationId })
        checkText('note', note, environment.maxNoteLength)
        refuseTarget(target, blockedBy)
        const isMember = yield* asksMembership(environment, call, key)

        return (current, blockedAt) => {
          const block: Block = { ...key, note, blockedAt, blockedBy }
          const decision = blockUser(current, block, isMember)
          return { ...decision, events: withSubjects(key, decision.events) }
        }
      },
    })
  }

  *unblock(call: Call<A, Tx>, request: BlockRequest): SyncOrAsync<void> {
    needObject(request, 'target', TARGET_EXAMPLE)
    const environment = this.#environment
    const target = toTarget(request.account)
    const key = toKey(request.organizationId, target.id)

    return yield* change(environment, call, {
      store: environment.storage.blocks,
      key,
      fenced: asksPolicy(call),
      *ask() {
        yield* authorize(environment, call, { action: 'blocks.write', organizationId: key.organizationId })
        refuseOrganization(target)

        return (current) => {
          const decision = unblockUser(current)
          return { ...decision, events: withSubjects(key, decision.events) }
        }
      },
    })
  }

  *find(
    call: Call<A, Tx>,
    target: { readonly organizationId: IdInput; readonly userId: IdInput },
  ): SyncOrAsync<Block | undefined> {
    needObject(target, 'target', '{ organizationId: 5, userId: 9 }')
    const key = toKey(target.organizationId, toId(target.userId, 'target.userId'))
    yield* authorize(this.#environment, call, { action: 'blocks.read', organizationId: key.organizationId })

    return yield* wait(this.#environment.storage.blocks.find(key, call.transaction))
  }

  *list(call: Call<A, Tx>, request: PageRequest & { readonly organizationId: IdInput }): SyncOrAsync<Page<Block>> {
    needObject(request, 'request', '{ organizationId: 5, page: 1, limit: 30 }')
    const organizationId = toId(request.organizationId, 'request.organizationId')
    yield* authorize(this.#environment, call, { action: 'blocks.read', organizationId })

    return yield* wait(this.#environment.storage.blocks.page(organizationId, toPageQuery(request), call.transaction))
  }

  *filterBlocked(
    call: Call<A, Tx>,
    candidates: { readonly organizationId: IdInput; readonly userIds: readonly IdInput[] },
  ): SyncOrAsync<ReadonlySet<Id>> {
    needObject(candidates, 'candidates', '{ organizationId: 5, userIds: [8, 9] }')
    const organizationId = toId(candidates.organizationId, 'candidates.organizationId')
    if (!Array.isArray(candidates.userIds)) throw new TypeError('candidates.userIds must be an array of ids')
    const userIds = candidates.userIds.map((user) => toId(user, 'userId'))

    return yield* wait(this.#environment.storage.blocks.among(organizationId, userIds, call.transaction))
  }
}

function* asksMembership<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  key: BlockKey,
): SyncOrAsync<boolean> {
  const answer = yield* answerOf(call, environment.membership.isMember(key, portContext(call, call.actor)))
  if (typeof answer === 'boolean') return answer

  throw new TypeError('membership.isMember must answer with true or false')
}

function toTarget(account: AccountRef): BlockTarget {
  needObject(account, 'target.account', "{ kind: 'user', id: 9 }")
  const { kind, id } = account
  if (kind !== 'user' && kind !== 'organization') {
    throw new TypeError("target.account.kind must be 'user' or 'organization'")
  }
  return { kind, id: toId(id, 'target.account.id') }
}

function toKey(organizationId: IdInput, userId: Id): BlockKey {
  return { organizationId: toId(organizationId, 'target.organizationId'), userId }
}
