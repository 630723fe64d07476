import type { Case } from '../http-adapters/cases/case.ts'
import { refusal, served } from '../http-adapters/cases/case.ts'
import { issues, pin } from '../http-adapters/cases/pinned.ts'
import type { ServiceSection } from '../services.ts'

const ROCKET = '/repos/acme/rocket'
const ISSUES = `${ROCKET}/issues/pinned`

/** What every route answers alike. Who may do what, and the order of the checks, is in the access table. */
const cases: readonly Case[] = [
  served('names are case-insensitive', ['anonymous', 'GET', '/repos/ACME/Rocket/issues/pinned'], 200, {
    before: pin(1),
    expected: { json: issues(1) },
  }),
  // Databases that compare without accents, pad with blanks or end texts at NUL would find these.
  ...['acme%20', '%20acme', 'acm%C3%A9', 'acme%CC%81', 'acme%00', '%00', '%F0%9F%A6%89', 'a'.repeat(300)].map(
    (name): Case =>
      refusal(
        `${name.slice(0, 20)} is no organization`,
        ['olga', 'GET', `/orgs/${name}/blocks`],
        404,
        'ORGANIZATION_NOT_FOUND',
      ),
  ),
  ...['stan%20', 'st%C3%A4n', '%C5%BFtan', 'stan%00'].map(
    (name): Case => refusal(`${name} is no user`, ['olga', 'PUT', `/orgs/acme/blocks/${name}`], 404, 'USER_NOT_FOUND'),
  ),
  ...['rocket%20', 'r%C3%B6cket', 'rocket%00'].map(
    (name): Case =>
      refusal(
        `${name} is no repository`,
        ['ada', 'GET', `/repos/acme/${name}/issues/pinned`],
        404,
        'REPOSITORY_NOT_FOUND',
      ),
  ),
  ...['abc', '1.5', '-3', '0', '9007199254740992', '99999999999999999999', '%20', '1e3', '0x1'].map(
    (index): Case =>
      refusal(
        `index ${index} is an unknown issue, without asking the host`,
        ['ada', 'POST', `${ROCKET}/issues/${index}/pin`],
        404,
        'ISSUE_NOT_FOUND',
      ),
  ),
  ...['+5', '005', '%2B5', '+05'].map(
    (index): Case =>
      served(`index ${index} is 5`, ['ada', 'POST', `${ROCKET}/issues/${index}/pin`], 204, {
        after: [ISSUES, issues(5)],
      }),
  ),
  served('a list is JSON with a charset and no blank', ['anonymous', 'GET', ISSUES], 200, {
    expected: { json: [], headers: { 'content-type': 'application/json;charset=utf-8' } },
  }),
  served('HEAD is GET without a body, with its length', ['anonymous', 'HEAD', ISSUES], 200, {
    expected: { text: '', headers: { 'content-length': '2', 'x-total-count': '0' } },
  }),
  refusal('HEAD of an error has no body either', ['anonymous', 'HEAD', '/orgs/nothing/blocks'], 404, {
    text: '',
    headers: { 'content-type': 'application/json;charset=utf-8' },
  }),
  refusal('HEAD on a path without GET is 405', ['ada', 'HEAD', `${ROCKET}/issues/1/pin`], 405, {
    text: '',
    headers: { allow: 'POST, DELETE, OPTIONS' },
  }),
  served(
    'OPTIONS returns the methods, and requires no credential',
    ['wrong', 'OPTIONS', '/orgs/acme/blocks/stan'],
    204,
    { expected: { headers: { allow: 'GET, HEAD, PUT, DELETE, OPTIONS' } } },
  ),
  refusal('a wrong method is 405 before a wrong credential is 401', ['wrong', 'POST', ISSUES], 405, {
    code: 'METHOD_NOT_ALLOWED',
    headers: { allow: 'GET, HEAD, OPTIONS' },
  }),
  ...(
    [
      ['a path that is not ours is 404 with JSON', 'wrong', '/repos/acme/rocket/branches'],
      ['a path that cannot be decoded is 404', 'anonymous', '/repos/acme/%zz/issues/pinned'],
      ['an encoded slash stays in its segment', 'anonymous', '/repos/acme/rocket%2Fissues/pinned'],
      ['two slashes at the end are another path', 'anonymous', `${ISSUES}//`],
    ] as const
  ).map(([fact, who, path]): Case => refusal(fact, [who, 'GET', path], 404, 'ROUTE_NOT_FOUND')),
  refusal(
    'a segment is decoded once',
    ['anonymous', 'GET', '/repos/acme/%2572ocket/issues/pinned'],
    404,
    'REPOSITORY_NOT_FOUND',
  ),
  served('an encoded letter is that letter', ['anonymous', 'GET', '/repos/acme/%72ocket/issues/pinned'], 200),
  served('one slash at the end does not matter', ['anonymous', 'GET', `${ISSUES}/`], 200),
  refusal('a service that is not mounted is not ours', ['anonymous', 'GET', ISSUES], 404, 'ROUTE_NOT_FOUND', {
    world: { services: ['blocks'] },
  }),
  ...(
    [
      ['header', 'root', {}, { sudo: 'mia' }],
      ['header of someone who is no site admin', 'rita', {}, { sudo: 'nobody' }],
      ['parameter', 'root', { sudo: 'mia' }, {}],
      ['parameter among others, encoded', 'root', { page: '1', 's%75do': 'm' }, {}],
    ] as const
  ).map(
    ([what, who, query, headers]): Case =>
      refusal(
        `a request with a Sudo ${what} is refused, and nothing is done`,
        [
          who,
          'POST',
          `${ROCKET}/issues/1/pin?${Object.entries(query)
            .map((pair) => pair.join('='))
            .join('&')}`,
        ],
        403,
        'SUDO_UNSUPPORTED',
        { headers, after: [ISSUES, []] },
      ),
  ),
  refusal('an anonymous request with a Sudo parameter is refused', ['anonymous', 'GET', `${ISSUES}?sudo=mia`], 403, {
    code: 'SUDO_UNSUPPORTED',
    message: 'the Sudo header and the sudo parameter are not supported: send a token of that user instead',
  }),
  served(
    'a Sudo header and a parameter without a name mean nothing',
    ['anonymous', 'GET', `${ISSUES}?sudo=&q=sudo`],
    200,
    { headers: { sudo: '' } },
  ),
]

export const section: ServiceSection = { cases, rules: {}, methods: [] }
