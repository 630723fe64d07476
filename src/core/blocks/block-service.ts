import { needObject } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { AccountRef, Block, Decision } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, wait } from '../../schema/sync-or-async.ts'
import { checkText } from '../../schema/text.ts'
import type { BlockKey, BlockState } from '../../storage/contract/stores.ts'
import type { Call, MaybeAsync, Scope } from '../call.ts'
import { actorIdOf, hostMethod, method, portAnswer } from '../call.ts'
import { change, changeBlock } from '../change.ts'
import { toPageQuery } from '../page-query.ts'
import { authorize } from '../policy.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import type { BlockTarget } from './block-rules.ts'
import { blockUser, refuseOrganization, refuseTarget, unblockUser } from './block-rules.ts'

/**
 * Blocks. An organization can block users. Source: docs/behaviour.md, Blocks.
 * Every method but `isBlocked` and `filterBlocked` asks the policy and throws `ORGANIZATION_NOT_FOUND` for a concealed
 * organization and, except for `find`, for a retired one, and `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses.
 * Every method throws `STORAGE_BUSY` or `STORAGE_UNAVAILABLE` when the storage cannot answer.
 */
export interface BlockService<A extends Actor> {
  /**
   * Blocks an account. The checks run in this order: organization, self, member, already blocked.
   * @throws ForgeError `CANNOT_BLOCK_ORGANIZATION`, `CANNOT_BLOCK_SELF`, `CANNOT_BLOCK_MEMBER`, `ALREADY_BLOCKED`,
   * `USER_NOT_FOUND` for a retired user, `INVALID_INPUT` for a note longer than the limit (default 255 characters)
   */
  block(
    actor: Caller<A>,
    target: {
      readonly organizationId: IdInput
      readonly account: AccountRef
      readonly note?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Block>
  /** Lifts a block. @throws ForgeError `CANNOT_BLOCK_ORGANIZATION`, `NOT_BLOCKED` */
  unblock(
    actor: Caller<A>,
    target: { readonly organizationId: IdInput; readonly account: AccountRef },
    options?: CallOptions,
  ): Promise<void>
  /** Returns the block of one user. Returns undefined when the user is not blocked or the organization is retired. */
  find(
    actor: Caller<A>,
    target: { readonly organizationId: IdInput; readonly userId: IdInput },
    options?: CallOptions,
  ): Promise<Block | undefined>
  /**
   * Lists the blocks of an organization, oldest first. Pages are stable under concurrent writes.
   * @throws ForgeError `INVALID_INPUT` if the page request is invalid
   */
  list(
    actor: Caller<A>,
    request: PageRequest & { readonly organizationId: IdInput },
    options?: CallOptions,
  ): Promise<Page<Block>>
  /**
   * Returns whether the organization blocks the user. The policy is not asked: this read is for the host, which calls it
   * before it lets a user act.
   */
  isBlocked(target: { readonly organizationId: IdInput; readonly userId: IdInput }): Promise<boolean>
  /**
   * Returns those of the given users whom the organization blocks, each id as it was given: a number stays a number. The
   * policy is not asked, as in `isBlocked`.
   */
  filterBlocked<I extends IdInput>(candidates: {
    readonly organizationId: IdInput
    readonly userIds: readonly I[]
  }): Promise<ReadonlySet<I>>
}

/** Creates the block service of a scope. */
export function blockService<A extends Actor, Tx>(scope: Scope<A, Tx>): MaybeAsync<BlockService<A>> {
  const { storage, membership, maxNoteLength } = scope.environment
  const { transaction } = scope

  /** Asks the port. Without one, the storage reads the membership itself, under its lock. */
  function* membershipOf(key: BlockKey, call: Call<A, Tx>): SyncOrAsync<boolean> {
    if (membership === undefined) return false
    const isMember = yield* portAnswer(call, membership.isMember(key, call))
    if (typeof isMember === 'boolean') return isMember
    throw new TypeError('membership.isMember must return true or false')
  }

  return {
    block: method(scope, function* block(call, request) {
      const { target, key } = toTarget(request)
      const { note = '' } = request
      const blockedBy = actorIdOf(call.actor)
      return yield* changeBlock(scope, call, key, function* ask() {
        yield* authorize(scope, call, { action: 'blocks.write', organizationId: key.organizationId })
        checkText('note', note, maxNoteLength)
        refuseTarget(target, blockedBy)
        const known = yield* membershipOf(key, call)

        return (current: BlockState, blockedAt: Date) => {
          const isMember = known || current.isMember === true
          return besideEpoch(current, blockUser(current.block, { note, blockedAt, blockedBy, ...key }, isMember))
        }
      })
    }),
    unblock: method(scope, function* unblock(call, request) {
      const { target, key } = toTarget(request)
      yield* authorize(scope, call, { action: 'blocks.write', organizationId: key.organizationId })
      refuseOrganization(target)
      yield* change(scope, call, storage.blocks, key, key, (current) =>
        besideEpoch(current, unblockUser(current.block)),
      )
    }),
    find: method(scope, function* find(call, target) {
      const key = toMember(target)
      yield* authorize(scope, call, { action: 'blocks.read', organizationId: key.organizationId })
      const found = storage.blocks.find(key, transaction)
      return isPromise(found) ? yield* wait(found) : found // the most frequent request
    }),
    list: method(scope, function* list(call, request) {
      needObject(request, 'request', '{ organizationId: 5, page: 1, limit: 30 }')
      const organizationId = toId(request.organizationId, 'request.organizationId')
      yield* authorize(scope, call, { action: 'blocks.read', organizationId })
      return yield* wait(storage.blocks.page(organizationId, toPageQuery(request), transaction))
    }),
    isBlocked: hostMethod(scope, function* isBlocked(_call, target) {
      return (yield* wait(storage.blocks.find(toMember(target), transaction))) !== undefined
    }),
    filterBlocked: hostMethod(scope, function* filterBlocked(_call, candidates) {
      needObject(candidates, 'candidates', '{ organizationId: 5, userIds: [8, 9] }')
      const organizationId = toId(candidates.organizationId, 'candidates.organizationId')
      const { userIds } = candidates
      if (!Array.isArray(userIds)) throw new TypeError('candidates.userIds must be an array of ids')
      const idOf = (userId: IdInput): Id => toId(userId, 'userId')
      const ids = yield* wait(storage.blocks.among(organizationId, userIds.map(idOf), transaction))
      return new Set(userIds.filter((userId) => ids.has(idOf(userId))))
    }),
  }
}

/** The decision of a rule about a block, as one about the block and the epoch. */
function besideEpoch<Result>(
  { epoch }: BlockState,
  { state: block, ...decided }: Decision<Block | undefined, Result>,
): Decision<BlockState, Result> {
  return { state: { block, epoch }, ...decided }
}

/** The input of `block` and `unblock`: the account, and the key of its block. */
function toTarget(request: { readonly organizationId: IdInput; readonly account: AccountRef }): {
  readonly target: BlockTarget
  readonly key: BlockKey
} {
  needObject(request, 'target', "{ organizationId: 5, account: { kind: 'user', id: 9 } }")
  needObject(request.account, 'target.account', "{ kind: 'user', id: 9 }")
  const { kind } = request.account
  if (kind !== 'user' && kind !== 'organization') {
    throw new TypeError("target.account.kind must be 'user' or 'organization'")
  }
  const id = toId(request.account.id, 'target.account.id')
  return {
    target: { kind, id },
    key: { organizationId: toId(request.organizationId, 'target.organizationId'), userId: id },
  }
}

function toMember(target: { readonly organizationId: IdInput; readonly userId: IdInput }): BlockKey {
  needObject(target, 'target', '{ organizationId: 5, userId: 9 }')
  const userId = toId(target.userId, 'target.userId')
  return { organizationId: toId(target.organizationId, 'target.organizationId'), userId }
}
