import { describe, expect, test } from 'vitest'
import { parseFixture } from '../../app/standalone/standalone.ts'
import type { ForgeLimits } from '../../src/index.ts'
import { isForgeError } from '../../src/index.ts'
import { WORLD } from './world.ts'

function violationsOf(fixture: unknown, limits?: ForgeLimits): readonly string[] {
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
const user = (more: object) => ({ users: [{ username: 'a', ...more }] })
const organization = (more: object) => ({ users, organizations: [{ name: 'o', ...more }] })
const repository = (more: object) => ({ users, repositories: [{ ...rocket, ...more }] })
const issueOf = (more: object) => repository({ issues: [{ ...issue, ...more }] })
const token = { tokens: ['secret'] }

const BAD: readonly (readonly [violation: string, fixture: unknown])[] = [
  [' type: must be an object', null],
  [' type: must be an object', []],
  ['/user unknown_field: unknown field: remove it or correct its name', { user: [] }],
  ['/users/0/ni~1ck unknown_field', user({ 'ni/ck': 1 })],
  ['/users/0/username required: is required: add it', { users: [{}] }],
  ['/users/0/username type: must be a string', user({ username: 7 })],
  ['/users/0/siteAdmin type: must be true or false', user({ siteAdmin: 'yes' })],
  ['/users/0/username format: must be a name without', user({ username: 'a/b' })],
  [
    '/users/0/username format: must be a name without blanks, slashes, control characters (NUL too), "?", "#" or "%", and not "." or ".."',
    user({ username: '..' }),
  ],
  ['/users/0/tokens/0 format: must be a token', user({ tokens: [''] })],
  ['/organizations/0/visibility choice: must be one of public, limited, private', organization({ visibility: 'x' })],
  ['/users/0/createdAt format: must be a date-time', user({ createdAt: '2026' })],
  ['/repositories/0/issues/0/index range: must be at most 9007199254740991', issueOf({ index: 2 ** 53 })],
  ['/repositories/0/issues/0/comments range: must be 0 or more', issueOf({ comments: -(2 ** 53) })],
  ['/repositories/0/issues/0/index type: must be an integer', issueOf({ index: 1.5 })],
  ['/repositories/0/issues/0/title range: must not be empty', issueOf({ title: '' })],
  ['/repositories/0/labels/0/color format: must be six', repository({ labels: [{ name: 'x', color: '#ff0000' }] })],
  [
    '/organizations/0/blocks/0/note range: must not be longer than 255',
    organization({ blocks: [{ user: 'mia', note: 'x'.repeat(256) }] }),
  ],
  ['/signingKey/file required', { signingKey: {} }],
  ['/users/1/username duplicate: occurs twice', { users: [{ username: 'alice' }, { username: 'ALICE' }] }],
  ['/organizations/0/name duplicate: occurs twice', organization({ name: 'Mia' })],
  [
    '/users/1/tokens/0 duplicate: this token occurs twice',
    { users: users.map(({ username }) => ({ username, ...token })) },
  ],
  ['/organizations/0/owners/0 unknown_name: is not one of the users', organization({ owners: ['bob'] })],
  ['/organizations/0/members/0 unknown_name: is not one of the users', organization({ members: ['bob'] })],
  ['/organizations/0/blocks/0/user unknown_name: is not one of the users', organization({ blocks: [{ user: 'bob' }] })],
  ['/organizations/0/blocks/0/user rule: is a member', organization({ members: ['mia'], blocks: [{ user: 'MIA' }] })],
  [
    '/organizations/0/blocks/1/user duplicate: occurs twice',
    organization({ blocks: [{ user: 'mia' }, { user: 'Mia' }] }),
  ],
  [
    '/repositories/0/owner unknown_name: is not one of the users or organizations',
    { repositories: [{ owner: 'bob', name: 'x' }] },
  ],
  [
    '/repositories/1/name duplicate: occurs twice',
    { users, repositories: [rocket, { owner: 'Alice', name: 'Rocket' }] },
  ],
  ...['admins', 'writers', 'readers'].map(
    (role) =>
      [`/repositories/0/${role}/0 unknown_name: is not one of the users`, repository({ [role]: ['bob'] })] as const,
  ),
  ['/repositories/0/issues/1/index duplicate: occurs twice', repository({ issues: [issue, issue] })],
  ['/repositories/0/issues/0/poster unknown_name: is not one of the users', issueOf({ poster: 'bob' })],
  ['/repositories/0/issues/0/assignees/0 unknown_name: is not one of the users', issueOf({ assignees: ['bob'] })],
  [
    `/repositories/0/issues/0/labels/0 unknown_name: is not one of the repository's labels`,
    issueOf({ labels: ['bug'] }),
  ],
  ['/repositories/0/labels/1/name duplicate: occurs twice', repository({ labels: [{ name: 'bug' }, { name: 'Bug' }] })],
  ['/repositories/0/pins/0 unknown_name: no issue of this repository has this index', repository({ pins: [4] })],
  ['/repositories/0/pins/1 duplicate: occurs twice', repository({ issues: [issue], pins: [1, 1] })],
  ['/badges/1/slug duplicate: occurs twice', { badges: [{ slug: 'owl' }, { slug: 'Owl' }] }],
  ['/badges/0/holders/0 unknown_name: is not one of the users', { badges: [{ slug: 'owl', holders: ['bob'] }] }],
]

describe('a fixture is refused', () => {
  test.each(BAD)('with %s', (violation, fixture) => {
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

  test.each([
    [false, 'issues', { maxPins: { issue: 2 } }],
    [true, 'pull requests', { maxPins: { pullRequest: 2 } }],
  ])('with more pins of one kind than the limit (pull %s)', (pull, kind, limits) => {
    const issues = [1, 2, 3, 4].map((index) => ({ ...issue, index, pull }))
    const pinning = (pins: readonly number[]) => ({ users, repositories: [{ ...rocket, issues, pins }] })
    const refusal = (at: number, limit: number) =>
      `/repositories/0/pins/${at} rule: at most ${limit} ${kind} can be pinned: remove some, or raise the limit`

    expect(violationsOf(pinning([3, 1, 2]))).toEqual([])
    expect(violationsOf(pinning([3, 1, 2, 4]))).toEqual([refusal(3, 3)])
    expect(violationsOf(pinning([3, 1, 2]), limits)).toEqual([refusal(2, 2)])
  })

  test('with a message that names the first mistake and counts the others', () => {
    expect(() => parseFixture({ a: 1, b: 2, c: 3 })).toThrow(
      'invalid fixture: /a: unknown field: remove it or correct its name (and 2 more)',
    )
  })

  test('without a value of it in any message', () => {
    const other = 'hunter2'
    const wrong = { username: other, tokens: [other, other], email: `${other}\n`, visibility: other, createdAt: other }
    const issues = [{ ...issue, poster: other }]
    const repository = { owner: other, name: other, readers: [other], issues, pins: [4711] }
    const fixture = {
      users: [wrong, { username: other }],
      organizations: [{ name: other, owners: [`no-${other}`] }],
      repositories: [repository, { ...repository, labels: [{ name: other, color: other }, { name: other }] }],
      badges: [{ slug: other, holders: [`no-${other}`] }, { slug: other }],
    }
    const violations = violationsOf(fixture)
    expect(violations.length).toBeGreaterThan(13)
    expect(violations.join()).not.toMatch(/hunter2|4711/)
  })
})

test('an empty fixture is a fixture', () => {
  expect(parseFixture({})).toEqual({})
})

test('a right fixture comes out as it went in', () => {
  expect(parseFixture(WORLD)).toEqual(WORLD)
})

describe('a text that not every database can keep is refused with its pointer', () => {
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
  ])('%s, in any field of the world', (_, other) => {
    const fields = [...changed(WORLD, other)]
    expect(fields.length).toBeGreaterThan(60)
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
