import type { Answer, RouteRules, Subject } from '../access-rules.ts'
import { ACCOUNTS, onUser } from '../access-rules.ts'
import type { Ask, Case } from './case.ts'

const BADGES = '/admin/users/stan/badges'

function grant(...slugs: readonly string[]): readonly Ask[] {
  return slugs.map((slug) => ['root', 'POST', BADGES, { badge_slugs: [slug] }])
}

function badge(id: number, slug: string): object {
  const imageUrl = `https://example.com/${slug}.png`
  return {
    ...{ id, slug, description: `The ${slug}`, image_url: imageUrl },
    ...{ ID: id, Slug: slug, Description: `The ${slug}`, ImageURL: imageUrl },
  }
}

/** Badges. */
export const badgeCases: readonly Case[] = [
  {
    fact: 'a list item has both spellings, the oldest grant first',
    before: grant('founder', 'night-owl'),
    ask: ['root', 'GET', BADGES],
    status: 200,
    expected: {
      json: [badge(2, 'founder'), badge(1, 'night-owl')],
      headers: { 'x-total-count': '2', 'access-control-expose-headers': 'X-Total-Count' },
    },
  },
  {
    fact: 'badges are for site admins, before the user is looked up',
    ask: ['olga', 'POST', '/admin/users/nosuch/badges', '{'],
    status: 403,
    expected: { code: 'FORBIDDEN' },
  },
  {
    fact: 'POST adds one badge per slug',
    ask: ['root', 'POST', BADGES, { badge_slugs: ['night-owl', 'founder'], extra: 1 }],
    status: 204,
    after: [BADGES, [badge(1, 'night-owl'), badge(2, 'founder')]],
  },
  {
    fact: 'POST passes over what is held or repeated',
    before: grant('night-owl'),
    ask: ['root', 'POST', BADGES, { badge_slugs: ['night-owl', 'founder', 'founder'] }],
    status: 204,
    after: [BADGES, [badge(1, 'night-owl'), badge(2, 'founder')]],
  },
  {
    fact: 'POST names every unknown slug and adds nothing',
    ask: ['root', 'POST', BADGES, { badge_slugs: ['night-owl', 'nope', 'Founder'] }],
    status: 422,
    expected: { code: 'UNKNOWN_BADGE', message: 'no such badge: "nope", "Founder"' },
    after: [BADGES, []],
  },
  ...['night-owl ', ' night-owl', 'n\u00efght-owl', 'NIGHT-OWL'].map(
    (slug): Case => ({
      fact: `"${slug}" is no badge`,
      ask: ['root', 'POST', BADGES, { badge_slugs: [slug] }],
      status: 422,
      expected: { code: 'UNKNOWN_BADGE' },
    }),
  ),
  ...[
    ['is missing', {}, 'required'] as const,
    ['is null', { badge_slugs: null }, 'required'] as const,
    ['is text', { badge_slugs: 'night-owl' }, 'type'] as const,
  ].map(
    ([what, body, code]): Case => ({
      fact: `a list that ${what} has the violation "${code}"`,
      ask: ['root', 'POST', BADGES, body],
      status: 422,
      expected: { violationCodes: [code] },
    }),
  ),
  {
    fact: 'DELETE removes one badge per slug, and passes over what is not held',
    before: grant('night-owl'),
    ask: ['root', 'DELETE', BADGES, { badge_slugs: ['founder', 'night-owl'] }],
    status: 204,
    after: [BADGES, []],
  },
  {
    fact: 'DELETE refuses an unknown slug and removes nothing',
    before: grant('night-owl'),
    ask: ['root', 'DELETE', BADGES, { badge_slugs: ['night-owl', 'nope'] }],
    status: 422,
    expected: { code: 'UNKNOWN_BADGE' },
    after: [BADGES, [badge(1, 'night-owl')]],
  },
  ...(['POST', 'DELETE'] as const).flatMap((method) => [
    {
      fact: `${method} with an empty list has nothing to do`,
      ask: ['root', method, BADGES, { badge_slugs: [] }],
      status: 204,
    } as const,
    ...(
      [
        ['no body', undefined, ['']],
        ['blanks', ' \n', ['']],
        ['what is not JSON', '{"badge_slugs":', ['']],
        ['a form', 'badge_slugs=a', ['']],
        ['a list', '["night-owl"]', ['']],
        ['null', 'null', ['']],
        ['no key', '{}', ['/badge_slugs']],
        ['a key in another case', '{"Badge_Slugs":["night-owl"]}', ['/badge_slugs']],
        ['a key that is null', '{"badge_slugs":null}', ['/badge_slugs']],
        ['a key that is text', '{"badge_slugs":"night-owl"}', ['/badge_slugs']],
        ['an inherited key', '{"__proto__":{"badge_slugs":["night-owl"]}}', ['/badge_slugs']],
        ['a slug that is a number', '{"badge_slugs":["night-owl",1]}', ['/badge_slugs/1']],
        ['slugs that are null or empty', '{"badge_slugs":[null,"night-owl",""]}', ['/badge_slugs/0', '/badge_slugs/2']],
      ] as const
    ).map(
      ([what, body, violations]): Case => ({
        fact: `${method} with ${what} is 422`,
        ask: ['root', method, BADGES, body],
        status: 422,
        expected: { code: 'INVALID_INPUT', violations },
      }),
    ),
  ]),
  ...(['POST', 'DELETE'] as const).flatMap((method): readonly Case[] => [
    {
      fact: `${method} refuses a slug of 256 characters`,
      ask: ['root', method, BADGES, { badge_slugs: ['night-owl', 'n'.repeat(256)] }],
      status: 422,
      expected: { code: 'INVALID_INPUT', violations: ['/badge_slugs/1'] },
    },
    ...['a\0b', 'a\ud800b'].map(
      (slug): Case => ({
        fact: `${method} refuses the slug ${JSON.stringify(slug)}`,
        ask: ['root', method, BADGES, { badge_slugs: ['night-owl', slug] }],
        status: 422,
        expected: { code: 'INVALID_INPUT', violations: ['/badge_slugs/1'] },
      }),
    ),
    {
      fact: `${method} looks a slug of 255 characters up, surrogate pairs counting once`,
      ask: ['root', method, BADGES, { badge_slugs: ['\u{1F680}'.repeat(255)] }],
      status: 422,
      expected: { code: 'UNKNOWN_BADGE' },
    },
    {
      fact: `${method} names the first hundred slugs that are wrong`,
      ask: ['root', method, BADGES, { badge_slugs: Array.from({ length: 101 }, () => 'n'.repeat(256)) }],
      status: 422,
      expected: {
        code: 'INVALID_INPUT',
        violations: Array.from({ length: 100 }, (_none, index) => `/badge_slugs/${index}`),
      },
    },
  ]),
  {
    fact: 'a body over the limit is 413',
    world: { limits: { maxBodyBytes: 100 } },
    ask: ['root', 'POST', BADGES, { badge_slugs: ['n'.repeat(100)] }],
    status: 413,
    expected: { code: 'BODY_TOO_LARGE' },
  },
  {
    fact: 'a body over the limit is not read for a caller who may not send it',
    world: { limits: { maxBodyBytes: 100 } },
    ask: ['olga', 'POST', BADGES, { badge_slugs: ['n'.repeat(100)] }],
    status: 403,
  },
]

const BODIES = ['{"badge_slugs":[]}', 'not JSON']

/** Who may do what. */
export const badgeRules: RouteRules = {
  adminListUserBadges: {
    asks: 'badges.read',
    needs: 'site admin',
    statements: 3,
    values: { username: ACCOUNTS },
    answer: (subject) => onUser(subject, '200'),
  },
  adminAddUserBadges: {
    asks: 'badges.grant',
    needs: 'site admin',
    statements: 3,
    values: { username: ACCOUNTS },
    bodies: BODIES,
    answer: (subject) => onUser(subject, withSlugs(subject)),
  },
  adminDeleteUserBadges: {
    asks: 'badges.grant',
    needs: 'site admin',
    statements: 3,
    values: { username: ACCOUNTS },
    bodies: BODIES,
    answer: (subject) => onUser(subject, withSlugs(subject)),
  },
}

function withSlugs({ body }: Subject): Answer {
  return body === 'not JSON' ? '422 INVALID_INPUT' : '204'
}
