import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { UserBlock } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { UserBlockKey, UserBlockStore } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { Referred } from '../host/references.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore, listWriting } from './aggregate.ts'
import type { BlockIds, StoredBlock } from './block-rows.ts'
import { blockRows, selectAmong, selectBlock } from './block-rows.ts'
import type { Head, HeadKey } from './heads.ts'

/** Which of some users a user and an organization block. */
interface BothBlockers {
  readonly blockerId: Id
  readonly organizationId: Id
  readonly userIds: readonly Id[]
}

/** What was removed with a locked user. */
interface RemovedBlocks {
  readonly count: number
  /** The head of the blocks by that user. */
  readonly retired: readonly Head[]
  /** The heads of others, to save. */
  readonly heads: readonly Head[]
}

/** Creates the blocks by users of an SQL storage. Who blocks has a head, which counts the blocks. */
export function sqlUserBlocks<Tx>(parts: StoreParts<Tx>): {
  readonly store: UserBlockStore<Tx>
  /** Removes the blocks of and by a locked user. */
  readonly ofUser: (session: Session, userId: Id) => SyncOrAsync<RemovedBlocks>
} {
  const { context, runtime, heads, references } = parts
  const rows = blockRows(parts, 'blocks_by_users', toBlock)
  const find = defineQuery((given: QueryValues<UserBlockKey>) =>
    selectBlock(context, 'blocks_by_users', given('blockerId'), given),
  )

  const amongBoth = defineQuery((given: QueryValues<BothBlockers>) =>
    selectAmong(context, 'blocks_by_users', given('blockerId'), given('userIds'))
      .select(sql.lit('user').as('by'))
      .unionAll(
        selectAmong(context, 'organization_blocks', given('organizationId'), given('userIds')).select(
          sql.lit('organization').as('by'),
        ),
      ),
  )

  const headOf = (blockerId: Id): HeadKey => heads.of('userBlocks', blockerId)

  const blocks: SqlAggregate<UserBlockKey, UserBlock | undefined, [StoredBlock]> = {
    own: ({ blockerId, userId }) => ({ blockerId, userId }),
    locks: ({ blockerId, userId }) =>
      references.has('user') ? [headOf(blockerId)] : [heads.of('user', userId), headOf(blockerId)],
    refers: usersOf,
    shows: ([blocks]) => blocks.length > 0,
    loading: (key) => [find(key)],
    state: (key, [[row]]) => row && toBlock(key.blockerId, key.userId, row),
    writing: (key, { before, after, head }) =>
      listWriting(
        head,
        before,
        after,
        {
          insert: (added) => rows.insert({ seq: head.nextSeq, ...added, ...idsOf(key) }),
          update: (changed) => rows.update({ ...changed, ...idsOf(key) }),
          remove: () => rows.remove(idsOf(key)),
        },
        () => usersOf(key),
      ),
  }

  return {
    store: {
      ...aggregateStore(parts, blocks),
      find: (key, transaction) =>
        runtime.read(
          (session) => after(session.first(find(key)), (row) => row && toBlock(key.blockerId, key.userId, row)),
          transaction,
        ),
      among: ({ blockerId, organizationId }, userIds, transaction) =>
        runtime.read((session) => {
          if (organizationId === undefined) {
            const found = session.all(rows.among({ blocker: blockerId, userIds }))
            return after(found, (users) => ({ byUser: idsIn(users), byOrganization: new Set() }))
          }
          return after(session.all(amongBoth({ blockerId, organizationId, userIds })), (found) => ({
            byUser: idsIn(found.filter(({ by }) => by === 'user')),
            byOrganization: idsIn(found.filter(({ by }) => by === 'organization')),
          }))
        }, transaction),
      page: (blockerId, query, transaction) =>
        runtime.read((session) => rows.page(session, { blocker: blockerId, ...headOf(blockerId) }, query), transaction),
    },

    *ofUser(session, userId) {
      const own = headOf(userId)
      const { found } = yield* heads.lockFound(session, rows.blocking({ userId }), {
        headOf: ({ blocker }) => headOf(blocker),
        known: [own],
      })
      const removed = yield* query(session, rows.removeOf({ userId }))
      const removedBy = yield* query(session, rows.removeBy({ blocker: userId }))

      const names = new Set(removed.map(({ blocker }) => blocker))
      return {
        count: removed.length + removedBy.length,
        retired: found.filter(({ key }) => key === own.key),
        heads: found
          .filter(({ key }) => key !== own.key && names.has(key))
          .map((head) => ({ ...head, total: head.total - 1 })),
      }
    },
  }
}

function idsOf({ blockerId, userId }: UserBlockKey): BlockIds {
  return { blocker: blockerId, userId }
}

function idsIn(users: readonly { readonly userId: Id }[]): ReadonlySet<Id> {
  return new Set(users.map(({ userId }) => userId))
}

function usersOf({ blockerId, userId }: UserBlockKey): readonly Referred[] {
  return [
    { thing: 'user', id: userId },
    { thing: 'user', id: blockerId },
  ]
}

function toBlock(blockerId: Id, userId: Id, { note, blockedAt, blockedBy }: StoredBlock): UserBlock {
  return { blockerId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}
