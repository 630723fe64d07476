import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { OrganizationBlock, UserBlock } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { BlockKey, BlockState, BlockStore, UserBlockKey, UserBlockStore } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { MemberRow } from '../host/members.ts'
import { hasMember, memberQuery, refuseSnapshot } from '../host/members.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { BlockIds, StoredBlock } from './block-rows.ts'
import { blockRows, idsIn, selectAmong, selectBlock } from './block-rows.ts'
import type { Removal, Removals } from './retirement.ts'

/** What is removed of the blocks. A retired user has grants too. */
interface BlockRemovals extends Removals<'organization'> {
  /** Removes the blocks of and by a locked user. */
  ofUser(session: Session, userId: Id): SyncOrAsync<Required<Omit<Removal, 'statements'>>>
}

/** Creates the blocks of an SQL storage. Who blocks has a head, which counts the blocks; that of an organization has the epoch. */
export function sqlBlocks<Tx>(
  parts: StoreParts<Tx>,
): { blocks: BlockStore<Tx>; userBlocks: UserBlockStore<Tx> } & BlockRemovals {
  const { context, runtime, heads } = parts
  const byOrganizations = blockRows(parts, 'organization_blocks', toOrganizationBlock)
  const byUsers = blockRows(parts, 'blocks_by_users', toUserBlock)

  const find = defineQuery((given: QueryValues<BlockKey>) =>
    selectBlock(context, 'organization_blocks', given('organizationId'), given),
  )
  const findByUser = defineQuery((given: QueryValues<UserBlockKey>) =>
    selectBlock(context, 'blocks_by_users', given('blockerId'), given),
  )
  const amongBoth = defineQuery((given: QueryValues<UserBlockersKey>) =>
    selectAmong(context, 'blocks_by_users', given('blockerId'), given('userIds'))
      .select(sql.lit('user').as('by'))
      .unionAll(
        selectAmong(context, 'organization_blocks', given('organizationId'), given('userIds')).select(
          sql.lit('organization').as('by'),
        ),
      ),
  )
  const findMember = memberQuery(context, { isGuarded: true })

  const blocks: SqlAggregate<BlockKey, BlockState, [StoredBlock] | [StoredBlock, MemberRow]> = {
    own: ({ organizationId, userId }) => ({ organizationId, userId }),
    locks: (key) => byOrganizations.locks(idsOf(key)),
    refers: (key) => byOrganizations.refers(idsOf(key)),
    shows: ([rows]) => rows.length > 0,
    loading: (key) => (findMember === undefined ? [find(key)] : [find(key), findMember(key)]),
    readsBehindLocks: findMember !== undefined, // a new member does not write the head, but only locks it
    state: (key, [[row], members], { epoch }) => ({
      block: row && toOrganizationBlock(key.organizationId, key.userId, row),
      epoch,
      ...(members && { isMember: hasMember(members) }),
    }),

    writing(key, { before, after: { block, epoch }, head, rows: [, members = []] }) {
      if (before.block === undefined && block !== undefined) refuseSnapshot(members)
      return byOrganizations.writing(idsOf(key), { ...head, epoch }, before.block, block)
    },
  }

  const userBlocks: SqlAggregate<UserBlockKey, UserBlock | undefined, [StoredBlock]> = {
    own: ({ blockerId, userId }) => ({ blockerId, userId }),
    locks: (key) => byUsers.locks(idsOfUsers(key)),
    refers: (key) => byUsers.refers(idsOfUsers(key)),
    shows: ([rows]) => rows.length > 0,
    loading: (key) => [findByUser(key)],
    state: (key, [[row]]) => row && toUserBlock(key.blockerId, key.userId, row),
    writing: (key, { before, after, head }) => byUsers.writing(idsOfUsers(key), head, before, after),
  }

  return {
    blocks: {
      ...aggregateStore(parts, blocks),
      epoch: (organizationId, transaction) =>
        runtime.read(
          (session) => after(heads.find(session, byOrganizations.headOf(organizationId)), ({ epoch }) => epoch),
          transaction,
        ),
      find: (key, transaction) =>
        runtime.read(
          (session) =>
            after(session.first(find(key)), (row) => row && toOrganizationBlock(key.organizationId, key.userId, row)),
          transaction,
        ),
      among: byOrganizations.among,
      page: byOrganizations.page,
    },

    userBlocks: {
      ...aggregateStore(parts, userBlocks),
      find: (key, transaction) =>
        runtime.read(
          (session) =>
            after(session.first(findByUser(key)), (row) => row && toUserBlock(key.blockerId, key.userId, row)),
          transaction,
        ),
      among({ blockerId, organizationId }, userIds, transaction) {
        if (organizationId === undefined) {
          return after(byUsers.among(blockerId, userIds, transaction), (byUser) => ({
            byUser,
            byOrganization: new Set(),
          }))
        }
        return runtime.read(
          (session) =>
            after(session.all(amongBoth({ blockerId, organizationId, userIds })), (found) => ({
              byUser: idsIn(found.filter(({ by }) => by === 'user')),
              byOrganization: idsIn(found.filter(({ by }) => by === 'organization')),
            })),
          transaction,
        )
      },
      page: byUsers.page,
    },

    *organization(session, { organizationId }) {
      // The head does not count what the database removes with a user.
      const counting = byOrganizations.counting(organizationId)
      const { heads: locked, rows } = yield* heads.lock(session, [byOrganizations.headOf(organizationId)], [counting])
      const [head] = locked
      if (head === undefined || head.retired) return undefined

      return {
        removed: { blocks: rows[0][0]?.total ?? 0 },
        statements: [byOrganizations.removingBy(organizationId)],
        retired: [head],
      }
    },

    *ofUser(session, userId) {
      const byOthers = yield* byOrganizations.removeOf(session, userId)
      const own = byUsers.headOf(userId)
      const { count, locked, heads: changed } = yield* byUsers.removeOf(session, userId, [own])
      const removedBy = yield* query(session, byUsers.removingBy(userId))
      return {
        removed: { blocks: byOthers.count + count + removedBy.length },
        retired: locked.filter(({ key }) => key === own.key),
        heads: [...byOthers.heads, ...changed.filter(({ key }) => key !== own.key)],
      }
    },
  }
}

/** Which of some users a user and an organization block. */
interface UserBlockersKey {
  readonly blockerId: Id
  readonly organizationId: Id
  readonly userIds: readonly Id[]
}

function idsOf({ organizationId, userId }: BlockKey): BlockIds {
  return { blocker: organizationId, userId }
}

function idsOfUsers({ blockerId, userId }: UserBlockKey): BlockIds {
  return { blocker: blockerId, userId }
}

function toOrganizationBlock(
  organizationId: Id,
  userId: Id,
  { note, blockedAt, blockedBy }: StoredBlock,
): OrganizationBlock {
  return { organizationId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}

function toUserBlock(blockerId: Id, userId: Id, { note, blockedAt, blockedBy }: StoredBlock): UserBlock {
  return { blockerId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}
