import type { SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { Block } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { BlockKey, BlockState, BlockStore } from '../../contract/stores.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { MemberRow } from '../host/ports.ts'
import { hasMember, memberQuery, refuseSnapshot } from '../host/ports.ts'
import type { Referred } from '../host/references.ts'
import { ALWAYS, existsIn, insertReferring, livesIn, withActors } from '../host/references.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore, listWriting } from './aggregate.ts'
import type { HeadKey } from './locks.ts'
import type { Slice } from './pages.ts'
import { pageReader } from './pages.ts'
import type { Removal, Removals } from './retirement.ts'

/** What the statements return of a block whose key is known. */
type StoredBlock = Pick<Row<'organization_blocks'>, 'note' | 'blockedAt' | 'blockedBy'>

/** What a page shows of each block. */
const SHOWN = ['userId', 'note', 'blockedAt', 'blockedBy'] as const

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
  const { context, runtime, heads, references } = parts
  const { build, ids, columns } = context
  const fields = fieldsOf(context, 'organization_blocks')
  const isBlockedAlive = livesIn(context, 'user', 'organization_blocks') ?? ALWAYS
  const isInForce = sql<SqlBool>`${isBlockedAlive} and ${livesIn(context, 'organization', 'organization_blocks') ?? ALWAYS}`

  const find = defineQuery((given: QueryValues<BlockKey>) =>
    build
      .selectFrom('organization_blocks')
      .select(fields.read('note', 'blockedAt', 'blockedBy'))
      .where(fields.are(given, 'organizationId', 'userId'))
      .where(isInForce),
  )

  const insert = defineQuery((given: QueryValues<Block & { seq: number }>) =>
    insertReferring(
      context,
      'organization_blocks',
      fields.written(given, 'organizationId', 'userId', 'seq', 'note', 'blockedAt', 'blockedBy'),
    ),
  )

  const update = defineQuery((given: QueryValues<Block>) =>
    build
      .updateTable('organization_blocks')
      .set(withActors(context, 'organization_blocks', fields.written(given, 'note', 'blockedAt', 'blockedBy')))
      .where(fields.are(given, 'organizationId', 'userId')),
  )

  const remove = defineQuery((given: QueryValues<BlockKey>) =>
    build.deleteFrom('organization_blocks').where(fields.are(given, 'organizationId', 'userId')),
  )

  const blocking = defineQuery((given: QueryValues<{ userId: Id }>) =>
    build.selectFrom('organization_blocks').select(fields.read('organizationId')).where(fields.are(given, 'userId')),
  )

  const removeOf = defineQuery(
    (given: QueryValues<{ userId: Id }>) =>
      build
        .deleteFrom('organization_blocks')
        .where(fields.are(given, 'userId'))
        .returning(fields.read('organizationId')),
    { mayTakeLong: true },
  )

  const removeBy = defineQuery(
    (given: QueryValues<OrganizationKey>) =>
      build.deleteFrom('organization_blocks').where(fields.are(given, 'organizationId')),
    { mayTakeLong: true },
  )

  const count = defineQuery((given: QueryValues<OrganizationKey>) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.count().as('blocks'))
      .where(fields.are(given, 'organizationId')),
  )

  const among = defineQuery((given: QueryValues<OrganizationKey & { userIds: readonly Id[] }>) =>
    build
      .selectFrom('organization_blocks')
      .select(fields.read('userId'))
      .where(fields.are(given, 'organizationId'))
      .where('user_id', 'in', ids.givenList('user', given('userIds')))
      .where(isInForce),
  )

  const findMember = memberQuery(context, { isGuarded: true })

  const organization = (given: QueryValues<OrganizationKey & HeadKey & Slice>) => ({
    exists: references.has('organization')
      ? existsIn(context, { thing: 'organization' }, ids.given('organization', given('organizationId')))
      : heads.isNotRetired(given),
    total: build
      .selectFrom('organization_blocks')
      .select(columns.count().as('total'))
      .where(fields.are(given, 'organizationId'))
      .where(isBlockedAlive),
  })

  const page = pageReader(context, {
    fields: SHOWN,
    rows: (given: QueryValues<OrganizationKey & HeadKey & Slice>) =>
      build
        .selectFrom('organization_blocks')
        .select([columns.number('seq').as('place'), ...fields.read(...SHOWN)])
        .where(fields.are(given, 'organizationId'))
        .where('seq', '>', given('after'))
        .where(isBlockedAlive)
        .orderBy('seq')
        .limit(given('limit'))
        .offset(given('offset')),
    toItem: (row, { organizationId }) => toBlock({ organizationId, userId: row.userId }, row),
    owner: references.has('organization') || references.has('user') ? organization : undefined,
  })

  const headOf = ({ organizationId }: OrganizationKey): HeadKey => heads.of('organization', organizationId)

  const blocks: SqlAggregate<BlockKey, BlockState, [StoredBlock] | [StoredBlock, MemberRow]> = {
    own: ({ organizationId, userId }) => ({ organizationId, userId }),
    locks: (key) => (references.has('user') ? [headOf(key)] : [heads.of('user', key.userId), headOf(key)]),
    refers: accountsOf,
    shows: ([blocks]) => blocks.length > 0,
    loading: (key) => (findMember === undefined ? [find(key)] : [find(key), findMember(key)]),
    state: (key, [[row], members], { epoch }) => ({
      block: row && toBlock(key, row),
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
          insert: (added) => insert({ seq: head.nextSeq, ...added, ...key }),
          update: (changed) => update({ ...changed, ...key }),
          remove: () => remove(key),
        },
        accountsOf(key),
      )
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
      // The head does not count what the database removes with a user.
      const { heads: locked, rows } = yield* heads.lock(
        session,
        [headOf({ organizationId })],
        [count({ organizationId })],
      )
      const [head] = locked
      if (head === undefined || head.retired) return undefined

      return {
        removed: { blocks: rows[0][0]?.blocks ?? 0 },
        statements: [removeBy({ organizationId })],
        retired: [head],
      }
    },

    /** The snapshot of a host's transaction may be older than the lock on the user: what was removed counts. */
    *ofUser(session, userId) {
      const { found } = yield* heads.lockFound(session, blocking({ userId }), { headOf })
      const removed = yield* query(session, removeOf({ userId }))

      const names = new Set(removed.map(({ organizationId }) => organizationId))
      const changed = found.filter(({ key }) => names.has(key))
      return {
        removed: { blocks: removed.length },
        heads: changed.map((head) => ({ ...head, total: head.total - 1 })),
      }
    },
  }
}

function accountsOf({ organizationId, userId }: BlockKey): readonly Referred[] {
  return [
    { thing: 'user', id: userId },
    { thing: 'organization', id: organizationId },
  ]
}

function toBlock({ organizationId, userId }: BlockKey, { note, blockedAt, blockedBy }: StoredBlock): Block {
  return { organizationId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}
