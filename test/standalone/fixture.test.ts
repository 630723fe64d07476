import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isForgeError } from '../../src/index.ts'
import type { FixtureLimits } from '../../src/standalone/fixture/fixture.ts'
import { parseFixture } from '../../src/standalone/fixture/parse-fixture.ts'
import { WORLD } from './world.ts'

function violationsOf(fixture: unknown, limits?: FixtureLimits): readonly string[] {
  try {
    parseFixture(fixture, limits)
    return []
  } catch (error) {
    if (!isForgeError(error, 'INVALID_INPUT')) throw error
    return error.details.violations.map(({ pointer, code, message }) => `${pointer} ${code}: ${message}`)
  }
}

const users = [{ username: 'alice' }, { username: 'mia' }]
const rocket = { owner: 'alice', name: 'rocket' }
const issue = { index: 1, title: 'One', poster: 'mia' }

const BAD: readonly (readonly [title: string, fixture: unknown, violation: string])[] = [
  ['no object', null, ' type: must be an object'],
  ['a list', [], ' type: must be an object'],
  ['an unknown field', { user: [] }, '/user unknown_field: unknown field: remove it or correct its name'],
  ['an unknown field deep down', { users: [{ username: 'a', 'ni/ck': 1 }] }, '/users/0/ni~1ck unknown_field'],
  ['a missing name', { users: [{}] }, '/users/0/username required: is required: add it'],
  ['a wrong type', { users: [{ username: 7 }] }, '/users/0/username type: must be a string'],
  ['a wrong list', { users: {} }, '/users type: must be a list'],
  ['a wrong flag', { users: [{ username: 'a', siteAdmin: 'yes' }] }, '/users/0/siteAdmin type: must be true or false'],
  ['a name with a slash', { users: [{ username: 'a/b' }] }, '/users/0/username format: must be a name without'],
  ['a name that is a path', { users: [{ username: '..' }] }, '/users/0/username format: must be a name without'],
  ['an empty token', { users: [{ username: 'a', tokens: [''] }] }, '/users/0/tokens/0 format: must be a token'],
  [
    'a wrong choice',
    { organizations: [{ name: 'o', visibility: 'x' }] },
    '/organizations/0/visibility choice: must be one of public, limited, private',
  ],
  ['a wrong time', { users: [{ username: 'a', createdAt: '2026' }] }, '/users/0/createdAt format: must be a date-time'],
  [
    'an invalid index',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, index: 0 }] }] },
    '/repositories/0/issues/0/index range: must be 1 or more',
  ],
  [
    'an index that is too large',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, index: 2 ** 53 }] }] },
    '/repositories/0/issues/0/index range: must be at most 9007199254740991',
  ],
  [
    'a count that is far too small',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, comments: -(2 ** 53) }] }] },
    '/repositories/0/issues/0/comments range: must be 0 or more',
  ],
  [
    'half an index',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, index: 1.5 }] }] },
    '/repositories/0/issues/0/index type: must be an integer',
  ],
  [
    'an empty title',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, title: '' }] }] },
    '/repositories/0/issues/0/title range: must not be empty',
  ],
  [
    'a color with #',
    { users, repositories: [{ ...rocket, labels: [{ name: 'x', color: '#ff0000' }] }] },
    '/repositories/0/labels/0/color format: must be six',
  ],
  [
    'a long note',
    { users, organizations: [{ name: 'o', blocks: [{ user: 'mia', note: 'x'.repeat(256) }] }] },
    '/organizations/0/blocks/0/note range: must not be longer than 255',
  ],
  ['a key without a file', { signingKey: {} }, '/signingKey/file required'],
  [
    'a username twice',
    { users: [{ username: 'alice' }, { username: 'ALICE' }] },
    '/users/1/username duplicate: "ALICE" occurs twice',
  ],
  [
    "an organization with a user's name",
    { users, organizations: [{ name: 'Mia' }] },
    '/organizations/0/name duplicate: "Mia"',
  ],
  [
    'a token of two users',
    {
      users: [
        { username: 'a', tokens: ['secret'] },
        { username: 'b', tokens: ['secret'] },
      ],
    },
    '/users/1/tokens/0 duplicate: this token occurs twice',
  ],
  [
    'an unknown owner',
    { organizations: [{ name: 'o', owners: ['bob'] }] },
    '/organizations/0/owners/0 unknown_name: "bob" is not one of the users',
  ],
  [
    'an unknown member',
    { organizations: [{ name: 'o', members: ['bob'] }] },
    '/organizations/0/members/0 unknown_name: "bob"',
  ],
  [
    'an unknown blocked user',
    { organizations: [{ name: 'o', blocks: [{ user: 'bob' }] }] },
    '/organizations/0/blocks/0/user unknown_name: "bob"',
  ],
  [
    'a blocked member',
    { users, organizations: [{ name: 'o', members: ['mia'], blocks: [{ user: 'MIA' }] }] },
    '/organizations/0/blocks/0/user rule: "MIA" is a member',
  ],
  [
    'a user blocked twice',
    { users, organizations: [{ name: 'o', blocks: [{ user: 'mia' }, { user: 'Mia' }] }] },
    '/organizations/0/blocks/1/user duplicate: "Mia"',
  ],
  [
    'a repository of an unknown owner',
    { repositories: [{ owner: 'bob', name: 'x' }] },
    '/repositories/0/owner unknown_name: "bob" is not one of the users or organizations',
  ],
  [
    'a repository twice',
    { users, repositories: [rocket, { owner: 'Alice', name: 'Rocket' }] },
    '/repositories/1/name duplicate: "Rocket"',
  ],
  [
    'an unknown admin',
    { users, repositories: [{ ...rocket, admins: ['bob'] }] },
    '/repositories/0/admins/0 unknown_name: "bob"',
  ],
  [
    'an unknown writer',
    { users, repositories: [{ ...rocket, writers: ['bob'] }] },
    '/repositories/0/writers/0 unknown_name: "bob"',
  ],
  [
    'an unknown reader',
    { users, repositories: [{ ...rocket, readers: ['bob'] }] },
    '/repositories/0/readers/0 unknown_name: "bob"',
  ],
  [
    'an index twice',
    { users, repositories: [{ ...rocket, issues: [issue, issue] }] },
    '/repositories/0/issues/1/index duplicate: 1 occurs twice',
  ],
  [
    'an unknown poster',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, poster: 'bob' }] }] },
    '/repositories/0/issues/0/poster unknown_name: "bob"',
  ],
  [
    'an unknown assignee',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, assignees: ['bob'] }] }] },
    '/repositories/0/issues/0/assignees/0 unknown_name: "bob"',
  ],
  [
    'an unknown label',
    { users, repositories: [{ ...rocket, issues: [{ ...issue, labels: ['bug'] }] }] },
    `/repositories/0/issues/0/labels/0 unknown_name: "bug" is not one of the repository's labels`,
  ],
  [
    'a label twice',
    { users, repositories: [{ ...rocket, labels: [{ name: 'bug' }, { name: 'Bug' }] }] },
    '/repositories/0/labels/1/name duplicate: "Bug"',
  ],
  [
    'a pin of nothing',
    { users, repositories: [{ ...rocket, pins: [4] }] },
    '/repositories/0/pins/0 unknown_name: no issue of this repository has the index 4',
  ],
  [
    'a pin twice',
    { users, repositories: [{ ...rocket, issues: [issue], pins: [1, 1] }] },
    '/repositories/0/pins/1 duplicate: 1',
  ],
  ['a slug twice', { badges: [{ slug: 'owl' }, { slug: 'Owl' }] }, '/badges/1/slug duplicate: "Owl"'],
  ['an unknown holder', { badges: [{ slug: 'owl', holders: ['bob'] }] }, '/badges/0/holders/0 unknown_name: "bob"'],
]

describe('a fixture is refused', () => {
  test.each(BAD)('for %s', (_, fixture, violation) => {
    const violations = violationsOf(fixture)
    expect(violations).toHaveLength(1)
    expect(violations[0]).toContain(violation)
  })

  test('with all its mistakes at once', () => {
    const violations = violationsOf({ users: [{ username: 'a', x: 1 }], badges: [{ holders: ['b'] }], y: 2 })
    expect(violations.map((violation) => violation.split(' ')[0]).sort()).toEqual(
      ['/users/0/x', '/badges/0/slug', '/badges/0/holders/0', '/y'].sort(),
    )
  })

  test('with more pins of one kind than the limit', () => {
    const issues = [1, 2, 3].map((index) => ({ ...issue, index }))
    const fixture = { users, repositories: [{ ...rocket, issues, pins: [3, 1, 2] }] }
    expect(violationsOf(fixture)).toEqual([])
    expect(violationsOf(fixture, { maxPins: { issue: 2 } })).toEqual([
      '/repositories/0/pins/2 rule: at most 2 issues can be pinned: remove some, or raise the limit',
    ])
  })

  test('with a message that names the first mistake and counts the others', () => {
    expect(() => parseFixture({ a: 1, b: 2, c: 3 })).toThrow(
      'invalid fixture: /a: unknown field: remove it or correct its name (and 2 more)',
    )
  })

  test('without revealing a token', () => {
    const tokens = ['hunter2', 'hunter2']
    expect(violationsOf({ users: [{ username: 'a', tokens }] }).join()).not.toContain('hunter2')
  })
})

test('an empty fixture is a fixture', () => {
  expect(parseFixture({})).toEqual({})
})

test('a right fixture comes out as it went in', () => {
  expect(parseFixture(WORLD)).toEqual(WORLD)
})

describe('a text that not every database can keep is refused with its pointer', () => {
  const text = readFileSync(join(import.meta.dirname, '../../demo/fixture.json'), 'utf8')

  /** The pointer of every text, and a copy of the fixture in which another stands there. */
  function* changed(value: unknown, other: string, pointer = ''): Generator<{ pointer: string; copy: unknown }> {
    if (typeof value === 'string') yield { pointer, copy: other }
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) {
      for (const inner of changed(item, other, `${pointer}/${key}`)) {
        const copy = Array.isArray(value) ? value.with(Number(key), inner.copy) : { ...value, [key]: inner.copy }
        yield { pointer: inner.pointer, copy }
      }
    }
  }

  test.each([
    ['NUL', 'a\0b'],
    ['the first half of a surrogate pair', 'a\ud83d'],
    ['the second half of a surrogate pair', '\udc1bb'],
  ])('%s, in any field of the demo', (_, other) => {
    const fields = [...changed(JSON.parse(text), other)]
    expect(fields.length).toBeGreaterThan(100)
    for (const { pointer, copy } of fields) {
      expect(violationsOf(copy).filter((violation) => violation.startsWith(`${pointer} `))).not.toEqual([])
    }
  })

  test('and a whole surrogate pair is taken', () => {
    expect(
      violationsOf({ users: [{ username: '\u{1f41b}', fullName: '\u{1f41b}', description: '\u{1f41b}' }] }),
    ).toEqual([])
  })
})
