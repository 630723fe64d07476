import type { Id } from '../../../schema/ids.ts'
import type { OrganizationBlock } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { BlockKey, BlockState, BlockStore } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { MemberRow } from '../host/members.ts'
import { hasMember, memberQuery, refuseSnapshot } from '../host/members.ts'
import type { Referred } from '../host/references.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore, listWriting } from './aggregate.ts'
import type { BlockIds, StoredBlock } from './block-rows.ts'
import { blockRows, selectBlock } from './block-rows.ts'
import type { Head, HeadKey } from './heads.ts'
import type { Removals } from './retirement.ts'

/** What is removed of the blocks. A retired user has grants too, and blocks by users. */
interface BlockRemovals extends Removals<'organization'> {
  /** Removes the blocks of a locked user: returns how many, and the heads to save. */
  ofUser(session: Session, userId: Id): SyncOrAsync<{ readonly count: number; readonly heads: readonly Head[] }>
}

/** Creates the blocks by organizations of an SQL storage. The organization's head has the epoch and counts them. */
export function sqlBlocks<Tx>(parts: StoreParts<Tx>): { store: BlockStore<Tx> } & BlockRemovals {
  const { context, runtime, heads, references } = parts
  const rows = blockRows(parts, 'organization_blocks', toBlock)
  const find = defineQuery((given: QueryValues<BlockKey>) =>
    selectBlock(context, 'organization_blocks', given('organizationId'), given),
  )
  const findMember = memberQuery(context, { isGuarded: true })

  const headOf = (organizationId: Id): HeadKey => heads.of('organization', organizationId)

  const blocks: SqlAggregate<BlockKey, BlockState, [StoredBlock] | [StoredBlock, MemberRow]> = {
    own: ({ organizationId, userId }) => ({ organizationId, userId }),
    locks: ({ organizationId, userId }) =>
      references.has('user') ? [headOf(organizationId)] : [heads.of('user', userId), headOf(organizationId)],
    refers: accountsOf,
    shows: ([blocks]) => blocks.length > 0,
    loading: (key) => (findMember === undefined ? [find(key)] : [find(key), findMember(key)]),
    readsBehindLocks: findMember !== undefined, // a new member does not write the head, but only locks it
    state: (key, [[row], members], { epoch }) => ({
      block: row && toBlock(key.organizationId, key.userId, row),
      epoch,
      ...(members && { isMember: hasMember(members) }),
    }),

    writing(key, { before, after: { block, epoch }, head, rows: [, members = []] }) {
      if (before.block === undefined && block !== undefined) refuseSnapshot(members)
      return listWriting(
        { ...head, epoch },
        before.block,
        block,
        {
          insert: (added) => rows.insert({ seq: head.nextSeq, ...added, ...idsOf(key) }),
          update: (changed) => rows.update({ ...changed, ...idsOf(key) }),
          remove: () => rows.remove(idsOf(key)),
        },
        () => accountsOf(key),
      )
    },
  }

  return {
    store: {
      ...aggregateStore(parts, blocks),
      epoch: (organizationId, transaction) =>
        runtime.read(
          (session) => after(heads.find(session, headOf(organizationId)), ({ epoch }) => epoch),
          transaction,
        ),
      find: (key, transaction) =>
        runtime.read(
          (session) => after(session.first(find(key)), (row) => row && toBlock(key.organizationId, key.userId, row)),
          transaction,
        ),
      among: (organizationId, userIds, transaction) =>
        runtime.read((session) => {
          const found = session.all(rows.among({ blocker: organizationId, userIds }))
          return after(found, (users) => new Set(users.map(({ userId }) => userId)))
        }, transaction),
      page: (organizationId, query, transaction) =>
        runtime.read(
          (session) => rows.page(session, { blocker: organizationId, ...headOf(organizationId) }, query),
          transaction,
        ),
    },

    *organization(session, { organizationId }) {
      // The head does not count what the database removes with a user.
      const counting = rows.count({ blocker: organizationId })
      const { heads: locked, rows: counted } = yield* heads.lock(session, [headOf(organizationId)], [counting])
      const [head] = locked
      if (head === undefined || head.retired) return undefined

      return {
        removed: { blocks: counted[0][0]?.total ?? 0 },
        statements: [rows.removeBy({ blocker: organizationId })],
        retired: [head],
      }
    },

    /** The snapshot of a host's transaction may be older than the lock on the user: what was removed counts. */
    *ofUser(session, userId) {
      const { found } = yield* heads.lockFound(session, rows.blocking({ userId }), {
        headOf: ({ blocker }) => headOf(blocker),
      })
      const removed = yield* query(session, rows.removeOf({ userId }))

      const names = new Set(removed.map(({ blocker }) => blocker))
      const changed = found.filter(({ key }) => names.has(key))
      return { count: removed.length, heads: changed.map((head) => ({ ...head, total: head.total - 1 })) }
    },
  }
}

function idsOf({ organizationId, userId }: BlockKey): BlockIds {
  return { blocker: organizationId, userId }
}

function accountsOf({ organizationId, userId }: BlockKey): readonly Referred[] {
  return [
    { thing: 'user', id: userId },
    { thing: 'organization', id: organizationId },
  ]
}

function toBlock(organizationId: Id, userId: Id, { note, blockedAt, blockedBy }: StoredBlock): OrganizationBlock {
  return { organizationId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}
