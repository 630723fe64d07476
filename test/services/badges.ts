import type { AskingMethod } from '../core/asking.ts'
import { methodsAbout } from '../core/asking.ts'
import type { RouteRules } from '../http-adapters/access-rules.ts'
import type { Ask, Case } from '../http-adapters/cases/case.ts'
import { refusal, served } from '../http-adapters/cases/case.ts'
import type { ServiceSection } from '../services.ts'

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

/** The bodies that no method takes, the pointers of their violations, and their codes where they are worth a look. */
const INVALID_BODIES: readonly (readonly [
  what: string,
  body: object | string | undefined,
  violations: readonly string[],
  violationCodes?: readonly string[],
])[] = [
  ['no body', undefined, ['']],
  ['blanks', ' \n', ['']],
  ['what is not JSON', '{"badge_slugs":', ['']],
  ['a form', 'badge_slugs=a', ['']],
  ['a list', '["night-owl"]', ['']],
  ['null', 'null', ['']],
  ['no key', '{}', ['/badge_slugs'], ['required']],
  ['a key in another case', '{"Badge_Slugs":["night-owl"]}', ['/badge_slugs']],
  ['a key that is null', '{"badge_slugs":null}', ['/badge_slugs'], ['required']],
  ['a key that is text', '{"badge_slugs":"night-owl"}', ['/badge_slugs'], ['type']],
  ['an inherited key', '{"__proto__":{"badge_slugs":["night-owl"]}}', ['/badge_slugs']],
  ['a slug that is a number', '{"badge_slugs":["night-owl",1]}', ['/badge_slugs/1']],
  ['slugs that are null or empty', '{"badge_slugs":[null,"night-owl",""]}', ['/badge_slugs/0', '/badge_slugs/2']],
  ['a slug of 256 characters', { badge_slugs: ['night-owl', 'n'.repeat(256)] }, ['/badge_slugs/1']],
  ['a slug that holds NUL', { badge_slugs: ['night-owl', 'a\0b'] }, ['/badge_slugs/1']],
  ['a slug that holds half a pair', { badge_slugs: ['night-owl', 'a\ud800b'] }, ['/badge_slugs/1']],
  [
    'more than a hundred wrong slugs, of which it names the first hundred,',
    { badge_slugs: Array.from({ length: 101 }, () => 'n'.repeat(256)) },
    Array.from({ length: 100 }, (_none, index) => `/badge_slugs/${index}`),
  ],
]

/** Badges. */
const cases: readonly Case[] = [
  served('a list item has both spellings, the oldest grant first', ['root', 'GET', BADGES], 200, {
    before: grant('founder', 'night-owl'),
    expected: {
      json: [badge(2, 'founder'), badge(1, 'night-owl')],
      headers: { 'x-total-count': '2', 'access-control-expose-headers': 'X-Total-Count' },
    },
  }),
  served(
    'POST adds one badge per slug',
    ['root', 'POST', BADGES, { badge_slugs: ['night-owl', 'founder'], extra: 1 }],
    204,
    { after: [BADGES, [badge(1, 'night-owl'), badge(2, 'founder')]] },
  ),
  refusal(
    'POST names every unknown slug and adds nothing',
    ['root', 'POST', BADGES, { badge_slugs: ['night-owl', 'nope', 'Founder'] }],
    422,
    { code: 'UNKNOWN_BADGE', message: 'no such badge: "nope", "Founder"' },
    { after: [BADGES, []] },
  ),
  ...['night-owl ', ' night-owl', 'n\u00efght-owl', 'NIGHT-OWL'].map(
    (slug): Case =>
      refusal(`"${slug}" is no badge`, ['root', 'POST', BADGES, { badge_slugs: [slug] }], 422, 'UNKNOWN_BADGE'),
  ),
  served(
    'DELETE removes one badge per slug, and passes over what is not held',
    ['root', 'DELETE', BADGES, { badge_slugs: ['founder', 'night-owl'] }],
    204,
    { before: grant('night-owl'), after: [BADGES, []] },
  ),
  ...(['POST', 'DELETE'] as const).flatMap((method): readonly Case[] => [
    served(`${method} with an empty list has nothing to do`, ['root', method, BADGES, { badge_slugs: [] }], 204),
    ...INVALID_BODIES.map(
      ([what, body, violations, violationCodes]): Case =>
        refusal(`${method} with ${what} is 422`, ['root', method, BADGES, body], 422, {
          code: 'INVALID_INPUT',
          violations,
          violationCodes,
        }),
    ),
    refusal(
      `${method} looks a slug of 255 characters up, surrogate pairs counting once`,
      ['root', method, BADGES, { badge_slugs: ['\u{1F680}'.repeat(255)] }],
      422,
      'UNKNOWN_BADGE',
    ),
  ]),
]

/** Who may do what. */
const rules: RouteRules = {
  adminListUserBadges: { asks: 'badges.read', needs: 'site admin', statements: 3 },
  adminAddUserBadges: { asks: 'badges.grant', needs: 'site admin', statements: 3 },
  adminDeleteUserBadges: { asks: 'badges.grant', needs: 'site admin', statements: 3 },
}

const grants = { userId: 9, slugs: [] }
const owl = { slug: 'owl' }

const methods: readonly AskingMethod[] = [
  ...methodsAbout({ userId: '9' }, 'USER_NOT_FOUND', [
    ['badges.grant', 'badges.grant', ({ badges }, who) => badges.grant(who, grants)],
    ['badges.revoke', 'badges.grant', ({ badges }, who) => badges.revoke(who, grants)],
    ['badges.heldBy', 'badges.read', ({ badges }, who) => badges.heldBy(who, 9)],
  ]),
  ...methodsAbout({}, 'USER_NOT_FOUND', [
    ['badges.heldByMany', 'badges.read', ({ badges }, who) => badges.heldByMany(who, [8, 9])],
    ['badges.holders', 'badges.read', ({ badges }, who) => badges.holders(who, owl)],
  ]),
  ...methodsAbout({}, 'FORBIDDEN', [
    ['badges.catalogue.define', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.define(who, owl)],
    ['badges.catalogue.update', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.update(who, owl)],
    ['badges.catalogue.remove', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.remove(who, 'a')],
    ['badges.catalogue.find', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.find(who, 'a')],
    ['badges.catalogue.list', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.list(who, { limit: 5 })],
  ]),
]

export const section: ServiceSection = { cases, rules, methods }
