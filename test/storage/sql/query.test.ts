import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createSqlContext } from '../../../src/storage/sql/context.ts'
import { sqliteDialect } from '../../../src/storage/sql/dialects/sqlite.ts'
import { compileStatement, defineQuery } from '../../../src/storage/sql/query.ts'

const { build, columns, ids } = createSqlContext(sqliteDialect, { prefix: 'a_' })

describe('a query', () => {
  test('is compiled once, at its first use, and bound each time', () => {
    let compiled = 0
    const find = defineQuery<{ readonly slug: string }, unknown>((given) => {
      compiled += 1
      return build.selectFrom('badges').select('slug').where('slug', '=', given('slug'))
    })
    expect(compiled).toBe(0)
    const [one, other] = [find({ slug: 'a' }), find({ slug: 'b' })]

    expect(compiled).toBe(1)
    expect([one.parameters, other.parameters]).toEqual([['a'], ['b']])
    expect(other.sql).toBe(one.sql)
  })

  test('names our tables with the prefix, in every place, and leaves other names alone', () => {
    const { sql: text } = compileStatement(
      build.selectFrom('user_grants').innerJoin('badges', 'badges.id', 'user_grants.badge_id').select(['badges.slug']),
    )

    expect(text).toBe(
      'select "a_badges"."slug" from "a_user_grants" inner join "a_badges" on "a_badges"."id" = "a_user_grants"."badge_id"',
    )
  })

  test('casts ids on their way in and out', () => {
    const find = defineQuery<{ readonly userId: string }, unknown>((given) =>
      build
        .selectFrom('organization_blocks')
        .select(columns.id('user_id').as('userId'))
        .where('user_id', '=', ids.given('user', given('userId'))),
    )
    const { sql: text, parameters } = find({ userId: '9007199254740993' })

    expect(text).toBe(
      'select cast("user_id" as text) as "userId" from "a_organization_blocks" where "user_id" = cast(? as integer)',
    )
    expect(parameters).toEqual(['9007199254740993'])
  })

  test.each([new Date(0), 7n, true, undefined, {}])('refuses to bind %s, which drivers take differently', (value) => {
    const find = defineQuery<{ readonly value: unknown }, unknown>((given) =>
      build.selectFrom('badges').select(sql`${given('value')}`.as('value')),
    )

    expect(() => find({ value })).toThrow(TypeError)
  })

  test.each([
    ['a selection', build.selectFrom('badges').select('slug'), true],
    ['an insertion', build.insertInto('issue_tombstones').values({ issue_id: '1' }), false],
    [
      'an insertion with RETURNING',
      build.insertInto('issue_tombstones').values({ issue_id: '1' }).returning('issue_id'),
      true,
    ],
    ['a removal', build.deleteFrom('badges'), false],
  ])('that is %s states whether it returns rows: %s', (_name, query, givesRows) => {
    expect(compileStatement<unknown>(query).returnsRows).toBe(givesRows)
  })
})
