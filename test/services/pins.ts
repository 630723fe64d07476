import type { AskingMethod } from '../core/asking.ts'
import { methodsAbout } from '../core/asking.ts'
import type { RouteRules } from '../http-adapters/access-rules.ts'
import type { Case } from '../http-adapters/cases/case.ts'
import { refusal, served } from '../http-adapters/cases/case.ts'
import { issues, pin } from '../http-adapters/cases/pinned.ts'
import type { ServiceSection } from '../services.ts'

const ROCKET = '/repos/acme/rocket'
const ISSUES = `${ROCKET}/issues/pinned`
const PULLS = `${ROCKET}/pulls/pinned`

function pulls(...indexes: readonly number[]): readonly object[] {
  return indexes.map((index, at) => ({ number: index, pin_order: at + 1, title: `pullRequest ${index}` }))
}

/** Pins. */
const cases: readonly Case[] = [
  served('a new pin goes last', ['ada', 'POST', `${ROCKET}/issues/2/pin`], 204, {
    before: pin(3, 1),
    after: [ISSUES, issues(3, 1, 2)],
  }),
  refusal(
    'pinning at the limit is 400 and says which kind and how many',
    ['ada', 'POST', `${ROCKET}/issues/4/pin`],
    400,
    'PIN_LIMIT_REACHED',
    { before: pin(1, 2, 3), after: [ISSUES, issues(1, 2, 3)] },
  ),
  served('pull requests have a board and a limit of their own', ['ada', 'POST', `${ROCKET}/issues/7/pin`], 204, {
    before: pin(1, 2, 3, 6),
    after: [PULLS, pulls(6, 7)],
  }),
  served('unpinning closes the gap', ['ada', 'DELETE', `${ROCKET}/issues/1/pin`], 204, {
    before: pin(1, 2, 3),
    after: [ISSUES, issues(2, 3)],
  }),
  served('a pin moves to a position', ['ada', 'PATCH', `${ROCKET}/issues/3/pin/1`], 204, {
    before: pin(1, 2, 3),
    after: [ISSUES, issues(3, 1, 2)],
  }),
  ...['4', '50', '9007199254740993', '9223372036854775807'].map(
    (position): Case =>
      served(`a move to ${position} of 3 goes last`, ['ada', 'PATCH', `${ROCKET}/issues/1/pin/${position}`], 204, {
        before: pin(1, 2, 3),
        after: [ISSUES, issues(2, 3, 1)],
      }),
  ),
  ...['0', '-1', 'abc', '1.5', '9223372036854775808', '%20'].map(
    (position): Case =>
      refusal(
        `position ${position} is 422`,
        ['ada', 'PATCH', `${ROCKET}/issues/1/pin/${position}`],
        422,
        { code: 'INVALID_INPUT', violations: ['/position'] },
        { before: pin(1) },
      ),
  ),
  refusal('moving what is not pinned is 404', ['ada', 'PATCH', `${ROCKET}/issues/1/pin/1`], 404, 'ISSUE_NOT_PINNED'),
  served('the list of pull requests holds no issues', ['anonymous', 'GET', PULLS], 200, {
    before: pin(1, 6),
    expected: { json: pulls(6), headers: { 'x-total-count': '1', 'access-control-expose-headers': 'X-Total-Count' } },
  }),
  served('a pinned thing that the presenter does not know is left out', ['anonymous', 'GET', ISSUES], 200, {
    world: {
      present: {
        users: () => [],
        issues: (ids) => ids.map((id) => (id === '102' ? undefined : { id })),
        pullRequests: () => [],
      },
    },
    before: pin(1, 2, 3),
    expected: {
      json: [
        { id: '101', pin_order: 1 },
        { id: '103', pin_order: 3 },
      ],
      headers: { 'x-total-count': '2' },
    },
  }),
  served('each kind reports whether another pin is allowed', ['anonymous', 'GET', `${ROCKET}/new_pin_allowed`], 200, {
    before: pin(1, 2, 3, 6),
    expected: { json: { issues: false, pull_requests: true } },
  }),
]

/** Who may do what. */
const rules: RouteRules = {
  repoListPinnedIssues: { asks: 'pins.read', needs: 'repository reader', statements: 9 },
  repoListPinnedPullRequests: { asks: 'pins.read', needs: 'repository reader', statements: 9 },
  repoNewPinAllowed: { asks: 'pins.read', needs: 'repository reader', statements: 3 },
  pinIssue: { asks: 'pins.write', needs: 'repository admin', statements: 4 },
  unpinIssue: { asks: 'pins.write', needs: 'repository admin', statements: 4 },
  moveIssuePin: { asks: 'pins.write', needs: 'repository admin', statements: 4 },
}

const issue = { id: '7', repositoryId: '10', kind: 'issue' } as const

const methods: readonly AskingMethod[] = [
  ...methodsAbout({ repositoryId: '10' }, 'REPOSITORY_NOT_FOUND', [
    ['pins.pin', 'pins.write', ({ pins }, who) => pins.pin(who, issue)],
    ['pins.unpin', 'pins.write', ({ pins }, who) => pins.unpin(who, issue)],
    ['pins.move', 'pins.write', ({ pins }, who) => pins.move(who, { issue, position: 1 })],
    ['pins.list', 'pins.read', ({ pins }, who) => pins.list(who, issue)],
    ['pins.positions', 'pins.read', ({ pins }, who) => pins.positions(who, [issue, { ...issue, id: '8' }])],
    ['pins.allowed', 'pins.read', ({ pins }, who) => pins.allowed(who, 10)],
    ['pins.history', 'pins.read', ({ pins }, who) => pins.history(who, issue)],
  ]),
]

export const section: ServiceSection = { cases, rules, methods }
