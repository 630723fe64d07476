import type { ForgeErrorCode } from '../../src/index.ts'
import type { AskingMethod } from '../core/asking.ts'
import { methodsAbout } from '../core/asking.ts'
import type { RouteRules } from '../http-adapters/access-rules.ts'
import type { Ask, Case } from '../http-adapters/cases/case.ts'
import { refusal, served } from '../http-adapters/cases/case.ts'
import type { ServiceSection } from '../services.ts'

const BLOCKS = '/orgs/acme/blocks'
const OWN_BLOCKS = '/user/blocks'
const others = ['rita', 'stan', 'will', 'ada'] as const

function block(...names: readonly string[]): readonly Ask[] {
  return names.map((name) => ['olga', 'PUT', `${BLOCKS}/${name}`])
}

function blockAsOlga(...names: readonly string[]): readonly Ask[] {
  return names.map((name) => ['olga', 'PUT', `${OWN_BLOCKS}/${name}`])
}

/** What is refused below a path: the fact, the method, the name and the code. */
function refused(
  path: string,
  refusals: readonly (readonly [fact: string, method: Ask[1], name: string, code: ForgeErrorCode])[],
): readonly Case[] {
  return refusals.map(([fact, method, name, code]) => refusal(fact, ['olga', method, `${path}/${name}`], 422, code))
}

/** Blocks. */
const cases: readonly Case[] = [
  served('the oldest block comes first', ['olga', 'GET', BLOCKS], 200, {
    before: block(...others),
    expected: {
      json: [
        { id: 6, login: 'rita' },
        { id: 7, login: 'stan' },
        { id: 5, login: 'will' },
        { id: 4, login: 'ada' },
      ],
      headers: { 'x-total-count': '4', link: null, 'access-control-expose-headers': 'X-Total-Count' },
    },
  }),
  ...refused(BLOCKS, [
    ['an organization cannot be blocked', 'PUT', 'hidden', 'CANNOT_BLOCK_ORGANIZATION'],
    ['the caller cannot be blocked, member or not', 'PUT', 'olga', 'CANNOT_BLOCK_SELF'],
    ['a member cannot be blocked', 'PUT', 'mia', 'CANNOT_BLOCK_MEMBER'],
    ['who is not blocked cannot be unblocked', 'DELETE', 'stan', 'NOT_BLOCKED'],
    ['an organization cannot be unblocked', 'DELETE', 'hidden', 'CANNOT_BLOCK_ORGANIZATION'],
  ]),
  refusal('who is blocked cannot be blocked again', ['olga', 'PUT', `${BLOCKS}/stan`], 422, 'ALREADY_BLOCKED', {
    before: block('stan'),
  }),
  served('a block can be lifted', ['olga', 'DELETE', `${BLOCKS}/stan`], 204, {
    before: block('stan'),
    after: [BLOCKS, []],
  }),
  served('the check of a block is 204', ['olga', 'GET', `${BLOCKS}/Stan`], 204, { before: block('stan') }),
  refusal('the check of no block is 404 with a JSON body', ['olga', 'GET', `${BLOCKS}/stan`], 404, 'NOT_BLOCKED'),
  refusal(
    'an organization is not blocked, though a user of the same id is',
    ['olga', 'GET', `${BLOCKS}/hidden`],
    404,
    'NOT_BLOCKED',
    { before: block('rita', 'stan') },
  ),
  served(
    'a note of 255 characters is taken',
    ['olga', 'PUT', `${BLOCKS}/stan?note=${'%F0%9F%9A%80'.repeat(255)}`],
    204,
  ),
  refusal('a note of 256 characters is 422', ['olga', 'PUT', `${BLOCKS}/stan?note=${'n'.repeat(256)}`], 422, {
    code: 'INVALID_INPUT',
    violations: ['/note'],
  }),
  refusal('a note that holds NUL is 422', ['olga', 'PUT', `${BLOCKS}/stan?note=a%00b`], 422, {
    code: 'INVALID_INPUT',
    violations: ['/note'],
  }),
  ...['note=%ff%fe', 'note=%ED%A0%80', 'note=100%', 'n%6Fte=%zz', 'page=2&note=a%C3&note=a'].map(
    (query): Case =>
      refusal(
        `?${query} is 422`,
        ['olga', 'PUT', `${BLOCKS}/stan?${query}`],
        422,
        { code: 'INVALID_INPUT', violations: ['/note'] },
        { after: [BLOCKS, []] },
      ),
  ),
  ...['note=a&note=%ff', 'page=%ff&note=a', 'notes=%zz', 'note', ''].map(
    (query): Case => served(`?${query} is a valid note`, ['olga', 'PUT', `${BLOCKS}/stan?${query}`], 204),
  ),
  ...['page=%ff', 'page=0', 'page=abc', 'page=', 'limit=%zz', 'limit=-5', 'limit=51&page=1'].map(
    (query): Case =>
      served(`?${query} gives the first page`, ['olga', 'GET', `${BLOCKS}?${query}`], 200, {
        before: block(...others),
        expected: { headers: { 'x-total-count': '4', link: null } },
      }),
  ),
  served('the first page links to the next and the last', ['olga', 'GET', `${BLOCKS}?limit=1`], 200, {
    before: block(...others),
    expected: {
      json: [{ id: 6, login: 'rita' }],
      headers: {
        link: '<?limit=1&page=2>; rel="next",<?limit=1&page=4>; rel="last"',
        'x-total-count': '4',
        'access-control-expose-headers': 'Link, X-Total-Count',
      },
    },
  }),
  {
    fact: 'a middle page links to next, last, first, prev; other parameters are kept, credentials are dropped',
    world: { publicUrl: 'https://git.example.com/api/v1/' },
    before: block(...others),
    ask: ['olga', 'GET', `${BLOCKS}/?token=s3cret&q=a%20b&page=2&limit=1&access_token=s3cret`],
    status: 200,
    expected: {
      json: [{ id: 7, login: 'stan' }],
      headers: {
        link: [
          '<https://git.example.com/api/v1/orgs/acme/blocks?limit=1&page=3&q=a+b>; rel="next"',
          '<https://git.example.com/api/v1/orgs/acme/blocks?limit=1&page=4&q=a+b>; rel="last"',
          '<https://git.example.com/api/v1/orgs/acme/blocks?limit=1&page=1&q=a+b>; rel="first"',
          '<https://git.example.com/api/v1/orgs/acme/blocks?limit=1&page=1&q=a+b>; rel="prev"',
        ].join(','),
      },
    },
  },
  ...['9', '99999999999999999999', '9223372036854775807', '9007199254740991'].map(
    (page): Case =>
      served(
        `page ${page} of 2 is empty and links back from the last`,
        ['olga', 'GET', `${BLOCKS}?limit=2&page=${page}`],
        200,
        {
          before: block(...others),
          expected: {
            json: [],
            headers: { link: '<?limit=2&page=1>; rel="first",<?limit=2&page=1>; rel="prev"', 'x-total-count': '4' },
          },
        },
      ),
  ),
  served('a limit above the most is the most', ['olga', 'GET', `${BLOCKS}?limit=100`], 200, {
    world: { limits: { defaultPageSize: 1, maxPageSize: 2 } },
    before: block(...others),
    expected: {
      json: [
        { id: 6, login: 'rita' },
        { id: 7, login: 'stan' },
      ],
    },
  }),
  served(
    'a parameter that is repeated counts once, the first',
    ['olga', 'GET', `${BLOCKS}?limit=1&limit=3&page=%2B02&page=3`],
    200,
    { before: block(...others), expected: { json: [{ id: 7, login: 'stan' }] } },
  ),
  {
    fact: 'a blocked user that is gone is left out, and counted',
    world: {}, // a host that deletes users
    before: block('gone', 'stan'),
    ask: ['olga', 'GET', BLOCKS],
    status: 200,
    expected: { json: [{ id: 7, login: 'stan' }], headers: { 'x-total-count': '2' } },
  },
  ...ownCases(),
]

/** The blocks of the caller. */
function ownCases(): readonly Case[] {
  return [
    served(
      'users block for themselves, and the oldest block comes first',
      ['olga', 'GET', `${OWN_BLOCKS}?limit=3`],
      200,
      {
        before: [['rita', 'PUT', `${OWN_BLOCKS}/olga`], ...blockAsOlga(...others)],
        expected: {
          json: [
            { id: 6, login: 'rita' },
            { id: 7, login: 'stan' },
            { id: 5, login: 'will' },
          ],
          headers: { 'x-total-count': '4', link: '<?limit=3&page=2>; rel="next",<?limit=3&page=2>; rel="last"' },
        },
      },
    ),
    {
      fact: 'a link to another page of the blocks of the caller has their address',
      world: { publicUrl: 'https://git.example.com/api/v1' },
      before: blockAsOlga('rita', 'stan'),
      ask: ['olga', 'GET', `${OWN_BLOCKS}?limit=1&page=2`],
      status: 200,
      expected: {
        json: [{ id: 7, login: 'stan' }],
        headers: {
          link: [
            '<https://git.example.com/api/v1/user/blocks?limit=1&page=1>; rel="first"',
            '<https://git.example.com/api/v1/user/blocks?limit=1&page=1>; rel="prev"',
          ].join(','),
        },
      },
    },
    {
      fact: 'a block by a user is no block by an organization, though the ids are the same',
      before: [['rita', 'PUT', `${OWN_BLOCKS}/stan`]], // the ids of rita and of acme are 6
      ask: ['olga', 'GET', `${BLOCKS}/stan`],
      status: 404,
      expected: { code: 'NOT_BLOCKED' },
    },
    ...refused(OWN_BLOCKS, [
      ['a user cannot block an organization', 'PUT', 'hidden', 'CANNOT_BLOCK_ORGANIZATION'],
      ['users cannot block themselves', 'PUT', 'olga', 'CANNOT_BLOCK_SELF'],
      ['whom the caller does not block, the caller cannot unblock', 'DELETE', 'stan', 'NOT_BLOCKED'],
      ['a user cannot unblock an organization', 'DELETE', 'hidden', 'CANNOT_BLOCK_ORGANIZATION'],
    ]),
    served(
      'users can block members of their organizations, and site admins, with a note',
      ['olga', 'GET', OWN_BLOCKS],
      200,
      {
        before: blockAsOlga('root', 'mia?note=why'),
        expected: {
          json: [
            { id: 1, login: 'root' },
            { id: 3, login: 'mia' },
          ],
        },
      },
    ),
    ...(
      [
        ['whom the caller blocks, the caller cannot block again', 'Stan', 'ALREADY_BLOCKED'],
        ['a note of 256 characters is 422 for a block by a user too', `rita?note=${'n'.repeat(256)}`, 'INVALID_INPUT'],
      ] as const
    ).map(
      ([fact, name, code]): Case =>
        refusal(fact, ['olga', 'PUT', `${OWN_BLOCKS}/${name}`], 422, code, { before: blockAsOlga('stan') }),
    ),
    served('a user can lift a block', ['olga', 'GET', OWN_BLOCKS], 200, {
      before: [...blockAsOlga('stan', 'ada'), ['olga', 'DELETE', `${OWN_BLOCKS}/stan`]],
      expected: { json: [{ id: 4, login: 'ada' }] },
    }),
    served('the check of a block by the caller is 204', ['olga', 'GET', `${OWN_BLOCKS}/stan`], 204, {
      before: blockAsOlga('stan'),
    }),
    {
      fact: 'the check of no block by the caller is 404, as is that of an organization with the id of a blocked user',
      before: blockAsOlga('stan'), // the ids of stan and of hidden are 7
      ask: ['olga', 'GET', `${OWN_BLOCKS}/hidden`],
      status: 404,
      expected: { code: 'NOT_BLOCKED' },
    },
    ...(['GET', 'PUT', 'DELETE'] as const).map((method) =>
      refusal(
        `an organization that the caller may not see does not exist: ${method}`,
        ['ada', method, `${OWN_BLOCKS}/hidden`],
        404,
        'USER_NOT_FOUND',
      ),
    ),
    refusal('a caller whom the policy conceals has no blocks', ['olga', 'GET', OWN_BLOCKS], 404, 'USER_NOT_FOUND', {
      world: { policy: { authorize: () => ({ allow: false, reason: 'gone', conceal: true }) } },
    }),
  ]
}

/** Who may do what. */
const rules: RouteRules = {
  organizationListBlocks: { asks: 'blocks.read', needs: 'organization owner', statements: 4 },
  organizationCheckUserBlock: { asks: 'blocks.read', needs: 'organization owner', statements: 4 },
  organizationBlockUser: { asks: 'blocks.write', needs: 'organization owner', statements: 5 },
  organizationUnblockUser: { asks: 'blocks.write', needs: 'organization owner', statements: 4 },
  userListBlocks: { asks: 'user-blocks.read', needs: 'the user', statements: 3 },
  userCheckUserBlock: { asks: 'user-blocks.read', needs: 'the user', statements: 3 },
  userBlockUser: { asks: 'user-blocks.write', needs: 'the user', statements: 3 },
  userUnblockUser: { asks: 'user-blocks.write', needs: 'the user', statements: 3 },
}

const organizationBlock = { organizationId: 5, account: { kind: 'user', id: '9' } } as const
const userBlock = { blockerId: 9, account: { kind: 'user', id: '8' } } as const

const methods: readonly AskingMethod[] = [
  ...methodsAbout({ organizationId: '5' }, 'ORGANIZATION_NOT_FOUND', [
    ['blocks.block', 'blocks.write', ({ blocks }, who) => blocks.block(who, organizationBlock)],
    ['blocks.unblock', 'blocks.write', ({ blocks }, who) => blocks.unblock(who, organizationBlock)],
    ['blocks.find', 'blocks.read', ({ blocks }, who) => blocks.find(who, { organizationId: 5, userId: 9 })],
    ['blocks.list', 'blocks.read', ({ blocks }, who) => blocks.list(who, { organizationId: 5, limit: 5 })],
  ]),
  ...methodsAbout({ userId: '9' }, 'USER_NOT_FOUND', [
    ['blocks.block', 'user-blocks.write', ({ blocks }, who) => blocks.block(who, userBlock)],
    ['blocks.unblock', 'user-blocks.write', ({ blocks }, who) => blocks.unblock(who, userBlock)],
    ['blocks.find', 'user-blocks.read', ({ blocks }, who) => blocks.find(who, { blockerId: 9, userId: 8 })],
    ['blocks.list', 'user-blocks.read', ({ blocks }, who) => blocks.list(who, { blockerId: 9 })],
  ]),
]

export const section: ServiceSection = { cases, rules, methods }
