import { describe, expect, test } from 'vitest'
import { settableClock } from '../../../app/testing/create-test-forge.ts'
import { aForge, codeOf, olga } from '../a-forge.ts'

describe('the badge service', () => {
  test('reads what many users hold, by the ids as they were given', async () => {
    const forge = aForge()
    for (const slug of ['owl', 'star']) await forge.badges.catalogue.define(olga, { slug })
    for (const slug of ['star', 'owl']) await forge.badges.grant(olga, { userId: 9, slugs: [slug] })
    await forge.badges.grant(olga, { userId: 8, slugs: ['owl'] })
    await forge.lifecycle.userDeleted(7)

    const held = await forge.badges.heldByMany(olga, [7, 8, '9', 9n, 10])
    expect([...held].map(([id, grants]) => [id, grants.map(({ badge }) => badge.slug)])).toEqual([
      [7, []],
      [8, ['owl']],
      ['9', ['star', 'owl']],
      [9n, ['star', 'owl']],
      [10, []],
    ])
    expect(await forge.badges.heldByMany(olga, [])).toEqual(new Map())
    await expect(Reflect.apply(forge.badges.heldByMany, null, [olga, 9])).rejects.toThrow('userIds must be an array')
  })

  test('lists who holds a badge, oldest grant first, in pages', async () => {
    const clock = settableClock(new Date('2026-01-02T03:04:05Z'))
    const forge = aForge({ clock })
    await forge.badges.catalogue.define(olga, { slug: 'owl' })
    expect(await forge.badges.holders(olga, { slug: 'owl' })).toEqual({ items: [], total: 0, limit: 30 })
    for (const userId of [9, 5, 7]) {
      clock.advance(1000)
      await forge.badges.grant(olga, { userId, slugs: ['owl'] })
    }
    clock.advance(-10_000)
    await forge.badges.grant('system', { userId: 6, slugs: ['owl'] })
    await forge.lifecycle.userDeleted(5)

    const first = await forge.badges.holders(olga, { slug: 'owl', limit: 2 })
    expect([first.total, first.items.map(({ userId, grantedBy }) => [userId, grantedBy])]).toEqual([
      3,
      [
        ['6', null],
        ['9', '1'],
      ],
    ])
    const next = await forge.badges.holders(olga, { slug: 'owl', after: first.cursor, limit: 2 })
    expect(next).toMatchObject({ items: [{ userId: '7', grantedBy: '1' }], total: 3, cursor: undefined })
    expect(await forge.badges.holders(olga, { slug: 'owl', page: 2, limit: 2 })).toEqual(next)
  })

  test.each([
    [{ slug: 'sun' }, 'BADGE_NOT_FOUND'],
    [{ slug: 'a\0' }, 'INVALID_INPUT'],
    [{ slug: 'owl', limit: 0 }, 'INVALID_INPUT'],
    [{ slug: 'owl', after: 'x' }, 'INVALID_INPUT'],
  ])('lists no holders for %j: %s', async (request, code) => {
    const forge = aForge()
    await forge.badges.catalogue.define(olga, { slug: 'owl' })
    expect(await codeOf(() => forge.badges.holders(olga, request))).toBe(code)
  })

  test('grants what the caller asked for, though the caller changes the list meanwhile', async () => {
    const forge = aForge({ policy: { authorize: async () => ({ allow: true }) } })
    for (const slug of ['owl', 'star']) await forge.badges.catalogue.define(olga, { slug })
    const slugs = ['owl']
    const granting = forge.badges.grant(olga, { userId: 9, slugs })
    slugs[0] = 'star'
    await granting
    expect((await forge.badges.heldBy(olga, 9)).map(({ badge }) => badge.slug)).toEqual(['owl'])
  })
})

describe('the badge catalogue', () => {
  test('is a list of pages, in which a badge is found, and of which it is removed', async () => {
    const { catalogue } = aForge().badges
    for (const slug of ['owl', 'star']) await catalogue.define(olga, { slug })
    const page = await catalogue.list(olga, { limit: 1 })
    expect([page.total, page.items.map(({ slug }) => slug)]).toEqual([2, ['owl']])
    await catalogue.remove(olga, 'owl')
    expect([await catalogue.find(olga, 'owl'), await catalogue.find(olga, 'star')]).toMatchObject([
      undefined,
      { slug: 'star', description: '', imageUrl: '' },
    ])
  })
})

test.each([
  ['grant', [{ userId: 9, slugs: 'owl' }], 'grants.slugs must be an array of strings'],
  ['revoke', [{ userId: 9, slugs: [7] }], 'grants.slugs must be an array of strings'],
  ['holders', [{ slug: 7 }], 'request.slug must be a string'],
  ['remove', [7], 'slug must be a string'],
])('%s of %j is a TypeError', async (name, given, message) => {
  const { badges } = aForge()
  const methods: Readonly<Record<string, unknown>> = { ...badges, ...badges.catalogue }
  const call = Reflect.apply(methods[name] as () => Promise<unknown>, undefined, [olga, ...given])

  await expect(call).rejects.toThrow(new RegExp(`^${message}`))
})
