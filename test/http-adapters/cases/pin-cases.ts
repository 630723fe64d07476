import type { RouteRule, RouteRules } from '../access-rules.ts'
import { INDEXES, onIssue } from '../access-rules.ts'
import type { Case } from './case.ts'
import { issues, pin } from './pinned.ts'

const ROCKET = '/repos/acme/rocket'
const ISSUES = `${ROCKET}/issues/pinned`
const PULLS = `${ROCKET}/pulls/pinned`

function pulls(...indexes: readonly number[]): readonly object[] {
  return indexes.map((index, at) => ({ number: index, pin_order: at + 1, title: `pullRequest ${index}` }))
}

/** Pins. */
export const pinCases: readonly Case[] = [
  {
    fact: 'a new pin goes last',
    before: pin(3, 1),
    ask: ['ada', 'POST', `${ROCKET}/issues/2/pin`],
    status: 204,
    after: [ISSUES, issues(3, 1, 2)],
  },
  {
    fact: 'pinning at the limit is 400 and says which kind and how many',
    before: pin(1, 2, 3),
    ask: ['ada', 'POST', `${ROCKET}/issues/4/pin`],
    status: 400,
    expected: { code: 'PIN_LIMIT_REACHED' },
    after: [ISSUES, issues(1, 2, 3)],
  },
  {
    fact: 'pull requests have a board and a limit of their own',
    before: pin(1, 2, 3, 6),
    ask: ['ada', 'POST', `${ROCKET}/issues/7/pin`],
    status: 204,
    after: [PULLS, pulls(6, 7)],
  },
  {
    fact: 'unpinning closes the gap',
    before: pin(1, 2, 3),
    ask: ['ada', 'DELETE', `${ROCKET}/issues/1/pin`],
    status: 204,
    after: [ISSUES, issues(2, 3)],
  },
  {
    fact: 'a pin moves to a position',
    before: pin(1, 2, 3),
    ask: ['ada', 'PATCH', `${ROCKET}/issues/3/pin/1`],
    status: 204,
    after: [ISSUES, issues(3, 1, 2)],
  },
  ...['4', '50', '9007199254740993', '9223372036854775807'].map(
    (position): Case => ({
      fact: `a move to ${position} of 3 goes last`,
      before: pin(1, 2, 3),
      ask: ['ada', 'PATCH', `${ROCKET}/issues/1/pin/${position}`],
      status: 204,
      after: [ISSUES, issues(2, 3, 1)],
    }),
  ),
  ...['0', '-1', 'abc', '1.5', '9223372036854775808', '%20'].map(
    (position): Case => ({
      fact: `position ${position} is 422`,
      before: pin(1),
      ask: ['ada', 'PATCH', `${ROCKET}/issues/1/pin/${position}`],
      status: 422,
      expected: { code: 'INVALID_INPUT', violations: ['/position'] },
    }),
  ),
  {
    fact: 'moving what is not pinned is 404',
    ask: ['ada', 'PATCH', `${ROCKET}/issues/1/pin/1`],
    status: 404,
    expected: { code: 'ISSUE_NOT_PINNED' },
  },
  {
    fact: 'the list of pull requests holds no issues',
    before: pin(1, 6),
    ask: ['anonymous', 'GET', PULLS],
    status: 200,
    expected: { json: pulls(6), headers: { 'x-total-count': '1', 'access-control-expose-headers': 'X-Total-Count' } },
  },
  {
    fact: 'a pinned thing that the presenter does not know is left out',
    world: {
      present: {
        users: () => [],
        issues: (ids) => ids.map((id) => (id === '102' ? undefined : { id })),
        pullRequests: () => [],
      },
    },
    before: pin(1, 2, 3),
    ask: ['anonymous', 'GET', ISSUES],
    status: 200,
    expected: {
      json: [
        { id: '101', pin_order: 1 },
        { id: '103', pin_order: 3 },
      ],
      headers: { 'x-total-count': '2' },
    },
  },
  {
    fact: 'each kind reports whether another pin is allowed',
    before: pin(1, 2, 3, 6),
    ask: ['anonymous', 'GET', `${ROCKET}/new_pin_allowed`],
    status: 200,
    expected: { json: { issues: false, pull_requests: true } },
  },
]

/** Lists, and whether there is room in them. */
const reading: Omit<RouteRule, 'statements'> = { asks: 'pins.read', needs: 'repository reader', answer: () => '200' }
/** Pinning and unpinning. */
const pinning: RouteRule = {
  asks: 'pins.write',
  needs: 'repository admin',
  statements: 4,
  values: { index: INDEXES },
  answer: (subject) => onIssue(subject, '204'),
}

/** Who may do what. */
export const pinRules: RouteRules = {
  repoListPinnedIssues: { ...reading, statements: 9 },
  repoListPinnedPullRequests: { ...reading, statements: 9 },
  repoNewPinAllowed: { ...reading, statements: 3 },
  pinIssue: pinning,
  unpinIssue: pinning,
  moveIssuePin: {
    ...pinning,
    values: { index: ['3', '99'], position: ['1', '0'] },
    answer: (subject) =>
      onIssue(subject, subject.values['position'] === '0' ? '422 INVALID_INPUT' : '404 ISSUE_NOT_PINNED'),
  },
}
