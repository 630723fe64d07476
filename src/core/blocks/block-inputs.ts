import { needObject } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { PageRequest } from '../../schema/paging.ts'
import type { AccessRequest, AccountRef } from '../../schema/records.ts'
import type { Checked } from '../method.ts'
import { copyPageRequest } from '../page-query.ts'
import type { BlockTarget } from './block-rules.ts'

// The inputs of the block service, checked, with the access that each needs.

/** Who blocks: an organization, or a user. */
export type Blocker =
  | { readonly organizationId: IdInput; readonly blockerId?: undefined }
  | { readonly blockerId: IdInput; readonly organizationId?: undefined }

/**
 * Who may have blocked a user: an organization, a user, or both. One that is null or undefined is not asked about, so that
 * the two columns of a repository's owner fit.
 */
export interface PossibleBlockers {
  readonly organizationId?: IdInput | null | undefined
  readonly blockerId?: IdInput | null | undefined
}

const OF_ORGANIZATION = { read: 'blocks.read', write: 'blocks.write' } as const
const OF_USER = { read: 'user-blocks.read', write: 'user-blocks.write' } as const

interface BothBlockers {
  readonly organizationId: Id
  readonly blockerId: Id
}

/** Who blocks, with canonical ids. */
export type OneBlocker =
  | { readonly organizationId: Id; readonly blockerId?: undefined }
  | { readonly blockerId: Id; readonly organizationId?: undefined }

/** Who may have blocked a user, with canonical ids. */
export type SomeBlockers = OneBlocker | BothBlockers

/** The user who is blocked. */
export interface BlockedKey {
  readonly userId: Id
}

export function keyOf(blocker: OneBlocker, userId: Id): OneBlocker & BlockedKey {
  return blocker.organizationId === undefined
    ? { blockerId: blocker.blockerId, userId }
    : { organizationId: blocker.organizationId, userId }
}

export function isOne(blockers: SomeBlockers): blockers is OneBlocker {
  return blockers.organizationId === undefined || blockers.blockerId === undefined
}

/** What the policy is asked about the blocks of an organization or a user. */
function accessTo(blocker: OneBlocker, operation: 'read' | 'write'): AccessRequest {
  return blocker.organizationId === undefined
    ? { action: OF_USER[operation], userId: blocker.blockerId }
    : { action: OF_ORGANIZATION[operation], organizationId: blocker.organizationId }
}

/** The input of `block` and `unblock`: the account, who blocks, and the note of `block`. */
export function toTarget(
  request: Blocker & { readonly account: AccountRef; readonly note?: string | undefined },
): Checked & { readonly target: BlockTarget; readonly blocker: OneBlocker; readonly note: string } {
  const blocker = toBlocker(request, 'target', "{ organizationId: 5, account: { kind: 'user', id: 9 } }")
  needObject(request.account, 'target.account', "{ kind: 'user', id: 9 }")
  const { kind } = request.account
  if (kind !== 'user' && kind !== 'organization') {
    throw new TypeError("target.account.kind must be 'user' or 'organization'")
  }
  const target: BlockTarget = { kind, id: toId(request.account.id, 'target.account.id') }
  const { note = '' } = request
  return { access: accessTo(blocker, 'write'), target, blocker, note }
}

export function toListed(
  request: PageRequest & Blocker,
): Checked & { readonly blocker: OneBlocker; readonly page: PageRequest } {
  const blocker = toBlocker(request, 'request', '{ organizationId: 5, page: 1, limit: 30 }')
  return { access: accessTo(blocker, 'read'), blocker, page: copyPageRequest(request) }
}

export function toKey(
  target: Blocker & { readonly userId: IdInput },
): Checked & { readonly key: OneBlocker & BlockedKey } {
  const blocker = toBlocker(target, 'target', '{ organizationId: 5, userId: 9 }')
  return { access: accessTo(blocker, 'read'), key: keyOf(blocker, toId(target.userId, 'target.userId')) }
}

/** @param example - an input of this name, for the error */
function toBlocker(given: Blocker, name: string, example: string): OneBlocker {
  const blockers = toBlockers(given, name, example)
  if (isOne(blockers)) return blockers
  throw new TypeError(`${name} must have an organizationId or a blockerId, not both`)
}

/** @param example - an input of this name, for the error */
export function toBlockers(given: PossibleBlockers, name: string, example: string): SomeBlockers {
  needObject(given, name, example)
  const organizationId = toIdIfAny(given.organizationId, `${name}.organizationId`)
  const blockerId = toIdIfAny(given.blockerId, `${name}.blockerId`)
  if (organizationId !== undefined) return blockerId === undefined ? { organizationId } : { organizationId, blockerId }
  if (blockerId !== undefined) return { blockerId }
  throw new TypeError(`${name} must have an organizationId or a blockerId`)
}

function toIdIfAny(id: IdInput | null | undefined, name: string): Id | undefined {
  return id === null || id === undefined ? undefined : toId(id, name)
}
