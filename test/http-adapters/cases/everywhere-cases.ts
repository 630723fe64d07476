import type { Case } from './case.ts'
import { issues, pin } from './pinned.ts'

const ROCKET = '/repos/acme/rocket'
const ISSUES = `${ROCKET}/issues/pinned`

/** What every route answers alike. Who may do what, and the order of the checks, is in the access table. */
export const everywhereCases: readonly Case[] = [
  {
    fact: 'names are case-insensitive',
    before: pin(1),
    ask: ['anonymous', 'GET', '/repos/ACME/Rocket/issues/pinned'],
    status: 200,
    expected: { json: issues(1) },
  },
  // Databases that compare without accents, pad with blanks or end texts at NUL would find these.
  ...['acme%20', '%20acme', 'acm%C3%A9', 'acme%CC%81', 'acme%00', '%00', '%F0%9F%A6%89', 'a'.repeat(300)].map(
    (name): Case => ({
      fact: `${name.slice(0, 20)} is no organization`,
      ask: ['olga', 'GET', `/orgs/${name}/blocks`],
      status: 404,
      expected: { code: 'ORGANIZATION_NOT_FOUND' },
    }),
  ),
  ...['stan%20', 'st%C3%A4n', '%C5%BFtan', 'stan%00'].map(
    (name): Case => ({
      fact: `${name} is no user`,
      ask: ['olga', 'PUT', `/orgs/acme/blocks/${name}`],
      status: 404,
      expected: { code: 'USER_NOT_FOUND' },
    }),
  ),
  ...['rocket%20', 'r%C3%B6cket', 'rocket%00'].map(
    (name): Case => ({
      fact: `${name} is no repository`,
      ask: ['ada', 'GET', `/repos/acme/${name}/issues/pinned`],
      status: 404,
      expected: { code: 'REPOSITORY_NOT_FOUND' },
    }),
  ),
  ...['abc', '1.5', '-3', '0', '9007199254740992', '99999999999999999999', '%20', '1e3', '0x1'].map(
    (index): Case => ({
      fact: `index ${index} is an unknown issue, without asking the host`,
      ask: ['ada', 'POST', `${ROCKET}/issues/${index}/pin`],
      status: 404,
      expected: { code: 'ISSUE_NOT_FOUND' },
    }),
  ),
  ...['+5', '005', '%2B5', '+05'].map(
    (index): Case => ({
      fact: `index ${index} is 5`,
      ask: ['ada', 'POST', `${ROCKET}/issues/${index}/pin`],
      status: 204,
      after: [ISSUES, issues(5)],
    }),
  ),
  {
    fact: 'a list is JSON with a charset and no blank',
    ask: ['anonymous', 'GET', ISSUES],
    status: 200,
    expected: { json: [], headers: { 'content-type': 'application/json;charset=utf-8' } },
  },
  {
    fact: 'HEAD is GET without a body, with its length',
    ask: ['anonymous', 'HEAD', ISSUES],
    status: 200,
    expected: { text: '', headers: { 'content-length': '2', 'x-total-count': '0' } },
  },
  {
    fact: 'HEAD of an error has no body either',
    ask: ['anonymous', 'HEAD', '/orgs/nothing/blocks'],
    status: 404,
    expected: { text: '', headers: { 'content-type': 'application/json;charset=utf-8' } },
  },
  {
    fact: 'HEAD on a path without GET is 405',
    ask: ['ada', 'HEAD', `${ROCKET}/issues/1/pin`],
    status: 405,
    expected: { text: '', headers: { allow: 'POST, DELETE, OPTIONS' } },
  },
  {
    fact: 'OPTIONS returns the methods, and requires no credential',
    ask: ['wrong', 'OPTIONS', '/orgs/acme/blocks/stan'],
    status: 204,
    expected: { headers: { allow: 'GET, HEAD, PUT, DELETE, OPTIONS' } },
  },
  {
    fact: 'a wrong method is 405 before a wrong credential is 401',
    ask: ['wrong', 'POST', ISSUES],
    status: 405,
    expected: { code: 'METHOD_NOT_ALLOWED', headers: { allow: 'GET, HEAD, OPTIONS' } },
  },
  ...(
    [
      ['a path that is not ours is 404 with JSON', 'wrong', '/repos/acme/rocket/branches'],
      ['a path that cannot be decoded is 404', 'anonymous', '/repos/acme/%zz/issues/pinned'],
      ['an encoded slash stays in its segment', 'anonymous', '/repos/acme/rocket%2Fissues/pinned'],
      ['two slashes at the end are another path', 'anonymous', `${ISSUES}//`],
    ] as const
  ).map(
    ([fact, who, path]): Case => ({
      fact,
      ask: [who, 'GET', path],
      status: 404,
      expected: { code: 'ROUTE_NOT_FOUND' },
    }),
  ),
  {
    fact: 'a segment is decoded once',
    ask: ['anonymous', 'GET', '/repos/acme/%2572ocket/issues/pinned'],
    status: 404,
    expected: { code: 'REPOSITORY_NOT_FOUND' },
  },
  {
    fact: 'an encoded letter is that letter',
    ask: ['anonymous', 'GET', '/repos/acme/%72ocket/issues/pinned'],
    status: 200,
  },
  {
    fact: 'one slash at the end does not matter',
    ask: ['anonymous', 'GET', `${ISSUES}/`],
    status: 200,
  },
  {
    fact: 'a service that is not mounted is not ours',
    world: { services: ['blocks'] },
    ask: ['anonymous', 'GET', ISSUES],
    status: 404,
    expected: { code: 'ROUTE_NOT_FOUND' },
  },
  ...(
    [
      ['header', 'root', {}, { sudo: 'mia' }],
      ['header of someone who is no site admin', 'rita', {}, { sudo: 'nobody' }],
      ['parameter', 'root', { sudo: 'mia' }, {}],
      ['parameter among others, encoded', 'root', { page: '1', 's%75do': 'm' }, {}],
    ] as const
  ).map(
    ([what, who, query, headers]): Case => ({
      fact: `a request with a Sudo ${what} is refused, and nothing is done`,
      ask: [
        who,
        'POST',
        `${ROCKET}/issues/1/pin?${Object.entries(query)
          .map((pair) => pair.join('='))
          .join('&')}`,
      ],
      headers,
      status: 403,
      expected: { code: 'SUDO_UNSUPPORTED' },
      after: [ISSUES, []],
    }),
  ),
  {
    fact: 'an anonymous request with a Sudo parameter is refused',
    ask: ['anonymous', 'GET', `${ISSUES}?sudo=mia`],
    status: 403,
    expected: {
      code: 'SUDO_UNSUPPORTED',
      message: 'the Sudo header and the sudo parameter are not supported: send a token of that user instead',
    },
  },
  {
    fact: 'a Sudo header and a parameter without a name mean nothing',
    ask: ['anonymous', 'GET', `${ISSUES}?sudo=&q=sudo`],
    headers: { sudo: '' },
    status: 200,
  },
]
