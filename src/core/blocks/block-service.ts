import type { ForgeErrorDetails } from '../../schema/errors.ts'
import { ForgeError } from '../../schema/errors.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { AccountRef, Block, Decision, OrganizationBlock } from '../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, wait } from '../../schema/sync-or-async.ts'
import { checkText } from '../../schema/text.ts'
import type { BlockedUsers, BlockKey, BlockState } from '../../storage/contract/stores.ts'
import type { Call, MaybeAsync, Scope } from '../call.ts'
import { actorIdOf, portAnswer } from '../call.ts'
import { change, changeBlock } from '../change.ts'
import { hostMethod, method } from '../method.ts'
import { toPageQuery } from '../page-query.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import type { BlockedKey, Blocker, OneBlocker, PossibleBlockers, SomeBlockers } from './block-inputs.ts'
import { isOne, keyOf, toBlockers, toKey, toListed, toTarget } from './block-inputs.ts'
import { blockUser, refuseOrganization, refuseTarget, unblockUser } from './block-rules.ts'

/**
 * Blocks. Organizations and users can block users. Source: docs/behaviour.md, Blocks.
 * `block`, `unblock`, `find` and `list` ask the policy and throw `ORGANIZATION_NOT_FOUND` for a concealed organization,
 * `USER_NOT_FOUND` for a concealed user who blocks and, except for `find`, the same for a retired one, and
 * `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses.
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
    target: Blocker & { readonly account: AccountRef; readonly note?: string | undefined },
    options?: CallOptions,
  ): Promise<Block>
  /** Lifts a block. @throws ForgeError `CANNOT_BLOCK_ORGANIZATION`, `NOT_BLOCKED` */
  unblock(actor: Caller<A>, target: Blocker & { readonly account: AccountRef }, options?: CallOptions): Promise<void>
  /** Returns the block of one user. Returns undefined when the user is not blocked, or who blocks is retired. */
  find(
    actor: Caller<A>,
    target: Blocker & { readonly userId: IdInput },
    options?: CallOptions,
  ): Promise<Block | undefined>
  /**
   * Lists the blocks by an organization or a user, oldest first. Pages are stable under concurrent writes.
   * @throws ForgeError `INVALID_INPUT` if the page request is invalid
   */
  list(actor: Caller<A>, request: PageRequest & Blocker, options?: CallOptions): Promise<Page<Block>>
  /**
   * Returns whether the organization or the user, or one of both, blocks the user. The policy is not asked: this read is for
   * the host, which calls it before it lets a user act.
   */
  isBlocked(target: PossibleBlockers & { readonly userId: IdInput }): Promise<boolean>
  /**
   * The same as `isBlocked`, as a guard: throws if the user is blocked. The details of the error have those who block.
   * @throws ForgeError `BLOCKED`
   */
  refuseBlocked(target: PossibleBlockers & { readonly userId: IdInput }): Promise<void>
  /**
   * Returns those of the given users whom the organization or the user blocks, each id as it was given: a number stays a
   * number. The policy is not asked, as in `isBlocked`.
   */
  filterBlocked<I extends IdInput>(
    candidates: PossibleBlockers & { readonly userIds: readonly I[] },
  ): Promise<ReadonlySet<I>>
}

/** Creates the block service of a scope. */
export function blockService(scope: Scope): MaybeAsync<BlockService<Actor>> {
  const { storage, membership, maxNoteLength } = scope.environment
  const { transaction } = scope

  /** Asks the port. Without one, the storage reads the membership itself, under its lock. */
  function* membershipOf(key: BlockKey, call: Call): SyncOrAsync<boolean> {
    if (membership === undefined) return false
    const isMember = yield* portAnswer(call, membership.isMember(key, call))
    if (typeof isMember === 'boolean') return isMember
    throw new TypeError('membership.isMember must return true or false')
  }

  /** Finds a block. */
  function find(key: OneBlocker & BlockedKey): MaybePromise<Block | undefined> {
    return key.organizationId === undefined
      ? storage.userBlocks.find(key, transaction)
      : storage.blocks.find(key, transaction)
  }

  /** Returns those of the users who are blocked, by who blocks them. */
  function* among({ organizationId, blockerId }: SomeBlockers, userIds: readonly Id[]): SyncOrAsync<BlockedUsers> {
    if (blockerId !== undefined) {
      return yield* wait(storage.userBlocks.among({ blockerId, organizationId }, userIds, transaction))
    }
    return {
      byUser: new Set(),
      byOrganization: yield* wait(storage.blocks.among(organizationId, userIds, transaction)),
    }
  }

  /** Returns which of those who may have blocked a user have. */
  function* blockersOf(blockers: SomeBlockers, userId: Id): SyncOrAsync<ForgeErrorDetails['BLOCKED']> {
    if (isOne(blockers)) return (yield* wait(find(keyOf(blockers, userId)))) === undefined ? {} : blockers

    const { organizationId, blockerId } = blockers
    const { byOrganization, byUser } = yield* among(blockers, [userId])
    return { ...(byOrganization.has(userId) && { organizationId }), ...(byUser.has(userId) && { blockerId }) }
  }

  return {
    block: method(scope, toTarget, function* block(call, { target, blocker, note }) {
      const blockedBy = actorIdOf(call.actor)
      const userId = target.id
      checkText('note', note, maxNoteLength)
      refuseTarget(target, blockedBy, blocker.blockerId)
      if (blocker.organizationId === undefined) {
        const key = { blockerId: blocker.blockerId, userId }
        return yield* change(scope, call, storage.userBlocks, key, { userId }, (current, blockedAt) =>
          blockUser(current, { note, blockedAt, blockedBy, ...key }, false),
        )
      }
      const key = { organizationId: blocker.organizationId, userId }
      return yield* changeBlock(scope, call, key, function* ask() {
        const known = yield* membershipOf(key, call)

        return (current: BlockState, blockedAt: Date) => {
          const isMember = known || current.isMember === true
          return besideEpoch(current, blockUser(current.block, { note, blockedAt, blockedBy, ...key }, isMember))
        }
      })
    }),
    unblock: method(scope, toTarget, function* unblock(call, { target, blocker }) {
      refuseOrganization(target)
      const userId = target.id
      if (blocker.organizationId === undefined) {
        const key = { blockerId: blocker.blockerId, userId }
        yield* change(scope, call, storage.userBlocks, key, { userId }, unblockUser)
        return
      }
      const key = { organizationId: blocker.organizationId, userId }
      yield* change(scope, call, storage.blocks, key, key, (current) =>
        besideEpoch(current, unblockUser(current.block)),
      )
    }),
    find: method(scope, toKey, (_call, { key }) => wait(find(key))),
    list: method(scope, toListed, function* list(_call, { blocker, page }) {
      const query = toPageQuery(page)
      return blocker.organizationId === undefined
        ? yield* wait(storage.userBlocks.page(blocker.blockerId, query, transaction))
        : yield* wait(storage.blocks.page(blocker.organizationId, query, transaction))
    }),
    isBlocked: hostMethod(scope, function* isBlocked(_call, target) {
      const blockers = toBlockers(target, 'target', '{ organizationId: 5, userId: 9 }')
      const userId = toId(target.userId, 'target.userId')
      if (isOne(blockers)) {
        const found = find(keyOf(blockers, userId))
        return (isPromise(found) ? yield* wait(found) : found) !== undefined
      }
      const { byOrganization, byUser } = yield* among(blockers, [userId])
      return byOrganization.has(userId) || byUser.has(userId)
    }),
    refuseBlocked: hostMethod(scope, function* refuseBlocked(_call, target) {
      const blockers = toBlockers(target, 'target', '{ organizationId: 5, userId: 9 }')
      const found = yield* blockersOf(blockers, toId(target.userId, 'target.userId'))
      if (Object.keys(found).length > 0) throw new ForgeError('BLOCKED', 'user is blocked', found)
    }),
    filterBlocked: hostMethod(scope, function* filterBlocked(_call, candidates) {
      const blockers = toBlockers(candidates, 'candidates', '{ organizationId: 5, userIds: [8, 9] }')
      if (!Array.isArray(candidates.userIds)) throw new TypeError('candidates.userIds must be an array of ids')
      const userIds = [...candidates.userIds]
      const idOf = (userId: IdInput): Id => toId(userId, 'userId')
      const { byOrganization, byUser } = yield* among(blockers, userIds.map(idOf))
      return new Set(
        userIds.filter((userId) => {
          const id = idOf(userId)
          return byOrganization.has(id) || byUser.has(id)
        }),
      )
    }),
  }
}

/** The decision of a rule about a block, as one about the block and the epoch. */
function besideEpoch<Result>(
  { epoch }: BlockState,
  { state: block, ...decided }: Decision<OrganizationBlock | undefined, Result>,
): Decision<BlockState, Result> {
  return { state: { block, epoch }, ...decided }
}
