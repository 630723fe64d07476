import type { SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { BadgeHolder } from '../../../schema/records.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { noCursor, pageOf } from './pages.ts'

/** The total of the holders beside one of them; or beside nulls if the page has none. */
type FoundHolder = { readonly total: number } & (
  | Pick<Row<'user_grants'>, 'userId' | 'grantedAt' | 'grantedBy'>
  | { readonly userId: null }
)

/** Which badge, and which of its holders: those after a place, without the first `offset`. */
interface HolderRange {
  readonly slug: string
  readonly grantedAt: number
  /** Grants of one time are in the order of their users' ids. Null: before all of a time. */
  readonly userId: Id | null
  readonly offset: number
  readonly limit: number
}

/** A cursor names the last holder of a page: the time of the grant, and the user. */
const HOLDER_CURSOR = /^g(-?\d{1,15}) (.{1,64})$/su

/**
 * Creates the reader of those who hold a badge, oldest grant first. It returns undefined if the badge is not defined. One
 * statement reads the rows and counts all of them: the next might see another state.
 */
export function holdersReader(
  context: SqlContext,
): (session: Session, slug: string, query: PageQuery) => MaybePromise<Page<BadgeHolder> | undefined> {
  const { build, ids, columns } = context

  const find = defineQuery((given: QueryValues<HolderRange>) => {
    const [time, userId] = [given('grantedAt'), ids.given('user', given('userId'))]
    const page = build
      .selectFrom('user_grants')
      .select(['user_id', 'granted_at', 'granted_by'])
      .where('badge_id', '=', build.selectFrom('badges').select('id').where('slug', '=', given('slug')))
      .where(sql<SqlBool>`granted_at >= ${time} and (granted_at > ${time} or user_id > ${userId})`)
      .orderBy('granted_at')
      .orderBy('user_id')
      .limit(given('limit'))
      .offset(given('offset'))
    return build
      .selectFrom('badges')
      .leftJoin(page.as('page'), (join) => join.onTrue())
      .select((badge) =>
        badge
          .selectFrom('user_grants')
          .select(columns.count().as('total'))
          .whereRef('badge_id', '=', 'badges.id')
          .as('total'),
      )
      .select([columns.id('page.user_id').as('userId'), columns.number('page.granted_at').as('grantedAt')])
      .select(columns.id<Id | null>('page.granted_by').as('grantedBy'))
      .where('slug', '=', given('slug'))
      .orderBy('page.granted_at')
      .orderBy('page.user_id')
      .$castTo<FoundHolder>()
  })

  function rangeOf({ from, limit }: PageQuery): Omit<HolderRange, 'slug'> {
    const rows = limit + 1 // one more, to see whether others follow
    if ('page' in from) {
      const offset = Math.min((from.page - 1) * limit, Number.MAX_SAFE_INTEGER)
      return { grantedAt: -Number.MAX_SAFE_INTEGER, userId: null, offset, limit: rows }
    }
    const [, time, userId] = HOLDER_CURSOR.exec(from.after) ?? []
    if (userId === undefined || !ids.fits('user', userId)) throw noCursor()
    return { grantedAt: Number(time), userId, offset: 0, limit: rows }
  }

  return (session, slug, query) =>
    after(session.all(find({ slug, ...rangeOf(query) })), (found) => {
      const [first] = found
      if (first === undefined) return undefined

      const holders = found.flatMap((row) => (row.userId === null ? [] : [row]))
      const { items, limit, cursor } = pageOf(
        holders,
        query.limit,
        ({ userId, grantedAt, grantedBy }) => ({ userId, grantedAt: new Date(grantedAt), grantedBy }),
        (last) => `g${last.grantedAt} ${last.userId}`,
      )
      return { items, total: first.total, limit, cursor }
    })
}
