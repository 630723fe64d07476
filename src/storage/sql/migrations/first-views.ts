import type { Compilable, CreateViewBuilder } from 'kysely'
import type { SqlContext } from '../sql-context.ts'
import { VIEW_COLUMNS } from '../tables.ts'

/**
 * The views: a promise to hosts, who may read and join them with plain SQL in every version. The tables behind them
 * are private. One row per pin, block or grant; ids have the host's column types, times are milliseconds since 1970
 * (UTC), `position` is 1-based, `kind` is `issue` or `pullRequest`, and who acted is null where the host itself did.
 */
export function firstViews({ build, schema, prefix }: SqlContext): readonly Compilable<unknown>[] {
  const schemas = schema === undefined ? build.schema : build.schema.withSchema(schema)
  const view = (name: keyof typeof VIEW_COLUMNS): CreateViewBuilder => schemas.createView(`${prefix}${name}`)
  const grants = build.selectFrom('user_grants').innerJoin('badges', 'badges.id', 'user_grants.badge_id')

  return [
    view('pins').as(build.selectFrom('board_pins').select(VIEW_COLUMNS.pins)),
    view('blocks').as(build.selectFrom('organization_blocks').select(VIEW_COLUMNS.blocks)),
    view('badge_grants').as(grants.select(VIEW_COLUMNS.badge_grants)),
  ]
}
