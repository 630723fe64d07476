import { needObject } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { AccountRef, Block } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import { checkText } from '../../schema/text.ts'
import type { BlockKey } from '../../storage/contract/stores.ts'
import { asksPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { actorIdOf, portAnswerOf, portContext } from '../call.ts'
import { change } from '../change.ts'
import type { Environment } from '../environment.ts'
import { toPageQuery } from '../page-query.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import { withSubjects } from '../with-subject.ts'
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

/** The input of `block` and `unblock`. */
export interface BlockRequest {
  readonly organizationId: IdInput
  readonly account: AccountRef
  readonly note?: string | undefined
}

const TARGET_EXAMPLE = "{ organizationId: 5, account: { kind: 'user', id: 9 } }"

/** The methods of the block service. Each runs one call. */
export class BlockServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  block(call: Call<A, Tx>, request: BlockRequest): MaybePromise<Block> {
    needObject(request, 'target', TARGET_EXAMPLE)
    const environment = this.#environment
    const target = toTarget(request.account)
    const key = toKey(request.organizationId, target.id)
    const blockedBy = actorIdOf(call.actor)
    const note = request.note ?? ''

    return change(environment, call, {
      store: environment.storage.blocks,
      key,
      fenced: true,
      ask() {
        const { organizationId } = key
        const membership = after(authorize(environment, call, { action: 'blocks.write', organizationId }), () => {
          checkText('note', note, environment.maxNoteLength)
          refuseTarget(target, blockedBy)
          return membershipOf(environment, call, key)
        })
        return after(membership, (isMember) => (current: Block | undefined, blockedAt: Date) => {
          const block: Block = { note, blockedAt, blockedBy, ...key }
          const decision = blockUser(current, block, isMember)
          return { ...decision, events: withSubjects(key, decision.events) }
        })
      },
    })
  }

  unblock(call: Call<A, Tx>, request: BlockRequest): MaybePromise<void> {
    needObject(request, 'target', TARGET_EXAMPLE)
    const environment = this.#environment
    const target = toTarget(request.account)
    const key = toKey(request.organizationId, target.id)

    return change(environment, call, {
      store: environment.storage.blocks,
      key,
      fenced: asksPolicy(call),
      ask() {
        const { organizationId } = key
        return after(authorize(environment, call, { action: 'blocks.write', organizationId }), () => {
          refuseOrganization(target)

          return (current: Block | undefined) => {
            const decision = unblockUser(current)
            return { ...decision, events: withSubjects(key, decision.events) }
          }
        })
      },
    })
  }

  find(
    call: Call<A, Tx>,
    target: { readonly organizationId: IdInput; readonly userId: IdInput },
  ): MaybePromise<Block | undefined> {
    const key = toMember(target)
    const { organizationId } = key
    const authorized = authorize(this.#environment, call, { action: 'blocks.read', organizationId })

    return after(authorized, () => this.#environment.storage.blocks.find(key, call.transaction))
  }

  list(call: Call<A, Tx>, request: PageRequest & { readonly organizationId: IdInput }): MaybePromise<Page<Block>> {
    needObject(request, 'request', '{ organizationId: 5, page: 1, limit: 30 }')
    const organizationId = toId(request.organizationId, 'request.organizationId')
    const authorized = authorize(this.#environment, call, { action: 'blocks.read', organizationId })

    const { blocks } = this.#environment.storage
    return after(authorized, () => blocks.page(organizationId, toPageQuery(request), call.transaction))
  }

  isBlocked(
    call: Call<A, Tx>,
    target: { readonly organizationId: IdInput; readonly userId: IdInput },
  ): MaybePromise<boolean> {
    const block = this.#environment.storage.blocks.find(toMember(target), call.transaction)
    return after(block, (found) => found !== undefined)
  }

  filterBlocked<I extends IdInput>(
    call: Call<A, Tx>,
    candidates: { readonly organizationId: IdInput; readonly userIds: readonly I[] },
  ): MaybePromise<ReadonlySet<I>> {
    needObject(candidates, 'candidates', '{ organizationId: 5, userIds: [8, 9] }')
    const organizationId = toId(candidates.organizationId, 'candidates.organizationId')
    const { userIds } = candidates
    if (!Array.isArray(userIds)) throw new TypeError('candidates.userIds must be an array of ids')
    const idOf = (userId: IdInput): Id => toId(userId, 'userId')

    const blocked = this.#environment.storage.blocks.among(organizationId, userIds.map(idOf), call.transaction)
    return after(blocked, (ids) => new Set(userIds.filter((userId) => ids.has(idOf(userId)))))
  }
}

function membershipOf<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  key: BlockKey,
): MaybePromise<boolean> {
  const answer = portAnswerOf(call, environment.membership.isMember(key, portContext(call, call.actor)))
  return after(answer, checkMembership)
}

/** Checks the answer, because a JavaScript host may return any value. */
function checkMembership(answer: boolean): boolean {
  if (typeof answer === 'boolean') return answer

  throw new TypeError('membership.isMember must return true or false')
}

function toTarget(account: AccountRef): BlockTarget {
  needObject(account, 'target.account', "{ kind: 'user', id: 9 }")
  const { kind, id } = account
  if (kind !== 'user' && kind !== 'organization') {
    throw new TypeError("target.account.kind must be 'user' or 'organization'")
  }
  return { kind, id: toId(id, 'target.account.id') }
}

function toMember(target: { readonly organizationId: IdInput; readonly userId: IdInput }): BlockKey {
  needObject(target, 'target', '{ organizationId: 5, userId: 9 }')
  return toKey(target.organizationId, toId(target.userId, 'target.userId'))
}

function toKey(organizationId: IdInput, userId: Id): BlockKey {
  return { organizationId: toId(organizationId, 'target.organizationId'), userId }
}
