import type { Id } from '../../../schema/ids.ts'
import type { Block } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { BlockKey, BlockState, BlockStore } from '../../contract/stores.ts'
import { toMilliseconds } from '../columns.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery, mayTakeLong } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { SqlAggregate, StoreParts, Writing } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { HeadKey } from './locks.ts'
import type { Slice } from './pages.ts'
import { pageReader } from './pages.ts'
import type { Removal, Removals } from './retirement.ts'

/** What the statements return of a block whose key is known. */
interface StoredBlock {
  readonly note: string
  readonly blockedAt: number
  readonly blockedBy: Id | null
}

/** Identifies one organization. */
interface OrganizationKey {
  readonly organizationId: Id
}

/** What is removed of the blocks. A retired user has grants too. */
interface BlockRemovals extends Removals<'organization'> {
  /** Removes the blocks of a locked user. */
  ofUser(session: Session, userId: Id): SyncOrAsync<Removal>
}

/** Creates the blocks of an SQL storage. The organization's head has the epoch and counts them. */
export function sqlBlocks<Tx>(parts: StoreParts<Tx>): { store: BlockStore<Tx> } & BlockRemovals {
  const { context, runtime, heads } = parts
  const { build, ids, columns } = context

  const find = defineQuery((given: QueryValues<BlockKey>) =>
    build
      .selectFrom('organization_blocks')
      .select('note')
      .select([columns.number('blocked_at').as('blockedAt'), columns.idOrNull('blocked_by').as('blockedBy')])
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )

  const insert = defineQuery((given: QueryValues<Block & { seq: number }>) =>
    build.insertInto('organization_blocks').values({
      organization_id: ids.given('organization', given('organizationId')),
      user_id: ids.given('user', given('userId')),
      seq: given('seq'),
      note: given('note'),
      blocked_at: given('blockedAt').as(toMilliseconds),
      blocked_by: ids.given('user', given('blockedBy')),
    }),
  )

  const update = defineQuery((given: QueryValues<Block>) =>
    build
      .updateTable('organization_blocks')
      .set({
        note: given('note'),
        blocked_at: given('blockedAt').as(toMilliseconds),
        blocked_by: ids.given('user', given('blockedBy')),
      })
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )

  const remove = defineQuery((given: QueryValues<BlockKey>) =>
    build
      .deleteFrom('organization_blocks')
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )

  const blocking = defineQuery((given: QueryValues<{ userId: Id }>) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.id('organization_id').as('organizationId'))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )

  const removeOf = mayTakeLong(
    defineQuery((given: QueryValues<{ userId: Id }>) =>
      build
        .deleteFrom('organization_blocks')
        .where('user_id', '=', ids.given('user', given('userId')))
        .returning(columns.id('organization_id').as('organizationId')),
    ),
  )

  const removeBy = mayTakeLong(
    defineQuery((given: QueryValues<OrganizationKey>) =>
      build
        .deleteFrom('organization_blocks')
        .where('organization_id', '=', ids.given('organization', given('organizationId'))),
    ),
  )

  const among = defineQuery((given: QueryValues<OrganizationKey & { userIds: readonly Id[] }>) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.id('user_id').as('userId'))
      .where('organization_id', '=', ids.given('organization', given('organizationId')))
      .where('user_id', 'in', ids.givenList('user', given('userIds'))),
  )

  const page = pageReader(context, heads, {
    columns: ['place', 'userId', 'note', 'blockedAt', 'blockedBy'],
    rows: (given: QueryValues<OrganizationKey & HeadKey & Slice>) =>
      build
        .selectFrom('organization_blocks')
        .select([columns.number('seq').as('place'), columns.id('user_id').as('userId'), 'note'])
        .select([columns.number('blocked_at').as('blockedAt'), columns.idOrNull('blocked_by').as('blockedBy')])
        .where('organization_id', '=', ids.given('organization', given('organizationId')))
        .where('seq', '>', given('after'))
        .orderBy('seq')
        .limit(given('limit'))
        .offset(given('offset')),
    toItem: (row, { organizationId }) => toBlock({ organizationId, userId: row.userId }, row),
  })

  const headOf = ({ organizationId }: OrganizationKey): HeadKey => heads.of('organization', organizationId)

  const blocks: SqlAggregate<BlockKey, BlockState, [StoredBlock]> = {
    own: ({ organizationId, userId }) => ({ organizationId, userId }),
    locks: (key) => [heads.of('user', key.userId), headOf(key)],
    loading: (key) => [find(key)],
    state: (key, [[row]], { epoch }) => ({ block: row && toBlock(key, row), epoch }),

    writing(key, { before, after: { block, epoch }, head }): Writing {
      if (block === before.block) return { statements: [], head: { ...head, epoch } }
      if (block === undefined) return { statements: [remove(key)], head: { ...head, epoch, total: head.total - 1 } }
      if (before.block !== undefined) return { statements: [update({ ...block, ...key })], head: { ...head, epoch } }
      return {
        statements: [insert({ seq: head.nextSeq, ...block, ...key })],
        head: { ...head, epoch, total: head.total + 1, nextSeq: head.nextSeq + 1 },
      }
    },
  }

  return {
    store: {
      ...aggregateStore(parts, blocks),
      epoch: (organizationId, transaction) =>
        runtime.read(
          (session) => after(heads.find(session, headOf({ organizationId })), ({ epoch }) => epoch),
          transaction,
        ),
      find: (key, transaction) =>
        runtime.read((session) => after(session.first(find(key)), (row) => row && toBlock(key, row)), transaction),
      among: (organizationId, userIds, transaction) =>
        runtime.read((session) => {
          const rows = session.all(among({ organizationId, userIds }))
          return after(rows, (found) => new Set(found.map((row) => row.userId)))
        }, transaction),
      page: (organizationId, query, transaction) =>
        runtime.read((session) => page(session, { organizationId, ...headOf({ organizationId }) }, query), transaction),
    },

    *organization(session, { organizationId }) {
      const head = yield* heads.lock(session, headOf({ organizationId }))
      if (head.retired) return undefined

      return { removed: { blocks: head.total }, statements: [removeBy({ organizationId })], retired: [head] }
    },

    /** The snapshot of a host's transaction may be older than the lock on the user: what was removed counts. */
    *ofUser(session, userId) {
      const locked = yield* heads.lockFound(session, blocking({ userId }), { headOf })
      const removed = yield* query(session, removeOf({ userId }))

      const names = new Set(removed.map(({ organizationId }) => organizationId))
      const found = locked.filter(({ key }) => names.has(key.organizationId))
      return {
        removed: { blocks: removed.length },
        heads: found.map(({ head }) => ({ ...head, total: head.total - 1 })),
      }
    },
  }
}

function toBlock({ organizationId, userId }: BlockKey, { note, blockedAt, blockedBy }: StoredBlock): Block {
  return { organizationId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}
