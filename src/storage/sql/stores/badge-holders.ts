import type { Expression, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { BadgeHolder } from '../../../schema/records.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { noCursor } from './pages.ts'

/** The place of a holder in the list: grants of one time are in the order of their users' ids. */
interface HolderPlace {
  readonly grantedAt: number
  readonly userId: Id
}

/** The total of the holders beside one of them; or beside nulls if the page has none. */
type FoundHolder = { readonly total: number } & (
  | (HolderPlace & { readonly grantedBy: Id | null })
  | { readonly userId: null }
)

/** Which badge, and how many holders of it. */
interface HolderRange {
  readonly slug: string
  readonly limit: number
}

/** A cursor names the last holder of a page: the time of the grant, and the user. */
const HOLDER_CURSOR = /^g(-?\d{1,15}) (.{1,64})$/su

/**
 * Creates the reader of those who hold a badge, oldest grant first. It returns undefined if the badge is not defined. One
 * statement reads the rows and counts all of them: the next might see another state.
 */
export function holdersReader({
  build,
  ids,
  columns,
}: SqlContext): (session: Session, slug: string, query: PageQuery) => MaybePromise<Page<BadgeHolder> | undefined> {
  const grantsOf = (slug: Expression<string>) =>
    build
      .selectFrom('user_grants')
      .select(['user_id', 'granted_at', 'granted_by'])
      .where('badge_id', '=', build.selectFrom('badges').select('id').where('slug', '=', slug))
      .orderBy('granted_at')
      .orderBy('user_id')

  const besideTotal = (slug: Expression<string>, grants: ReturnType<typeof grantsOf>) =>
    build
      .selectFrom('badges')
      .leftJoin(grants.as('page'), (join) => join.onTrue())
      .select((badge) =>
        badge
          .selectFrom('user_grants')
          .select(columns.count().as('total'))
          .whereRef('badge_id', '=', 'badges.id')
          .as('total'),
      )
      .select([columns.id('page.user_id').as('userId'), columns.number('page.granted_at').as('grantedAt')])
      .select(columns.idOrNull('page.granted_by').as('grantedBy'))
      .where('slug', '=', slug)
      .orderBy('page.granted_at')
      .orderBy('page.user_id')
      .$castTo<FoundHolder>()

  const byNumber = defineQuery((given: QueryValues<HolderRange & { offset: number }>) =>
    besideTotal(given('slug'), grantsOf(given('slug')).limit(given('limit')).offset(given('offset'))),
  )

  const following = defineQuery((given: QueryValues<HolderRange & HolderPlace>) => {
    const [time, userId] = [given('grantedAt'), ids.given('user', given('userId'))]
    const isBehind = sql<SqlBool>`granted_at >= ${time} and (granted_at > ${time} or user_id > ${userId})`
    return besideTotal(given('slug'), grantsOf(given('slug')).where(isBehind).limit(given('limit')))
  })

  function statementOf(slug: string, { from, limit }: PageQuery) {
    const one = { slug, limit: limit + 1 } // one more, to see whether others follow
    if ('page' in from) return byNumber({ offset: Math.min((from.page - 1) * limit, Number.MAX_SAFE_INTEGER), ...one })

    const [, time, userId] = HOLDER_CURSOR.exec(from.after) ?? []
    if (userId === undefined || !ids.fits('user', userId)) throw noCursor()
    return following({ grantedAt: Number(time), userId, ...one })
  }

  return (session, slug, query) =>
    after(session.all(statementOf(slug, query)), (found) => {
      const [first] = found
      if (first === undefined) return undefined

      const holders = found.flatMap((row) => (row.userId === null ? [] : [row]))
      const page = holders.slice(0, query.limit)
      const last = page.at(-1)
      const hasMore = last !== undefined && holders.length > query.limit
      return {
        items: page.map(({ userId, grantedAt, grantedBy }) => ({ userId, grantedAt: new Date(grantedAt), grantedBy })),
        total: first.total,
        limit: query.limit,
        cursor: hasMore ? `g${last.grantedAt} ${last.userId}` : undefined,
      }
    })
}
