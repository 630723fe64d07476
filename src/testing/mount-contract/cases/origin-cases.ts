import type { Answer } from './answer.ts'
import type { ContractClient, MountRequest } from './client.ts'
import { blocking, WRONG_TOKEN, whileBlocked } from './client.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

const NO_URL = 'do not build a URL from the Host header before the handler, or catch the error'
const LINKS: CaseFacts = {
  needs: ['authorization', 'organization', 'users'],
  service: 'blocks',
  fix: 'pass createApi the publicUrl at which clients see the mount point, or omit it',
}

const HOSTS: readonly (readonly [what: string, hosts: readonly (string | readonly string[])[]])[] = [
  ['a malformed Host header', ['', ':::', '[', 'a b', '%zz', 'git.example.com:99999', '\u00e9']],
  ['a request without a Host header', [[]]],
  ['a request with two Host headers', [['one.example.com', 'two.example.com']]],
]

/** Cases about the origin that a request names: the server responds to any `Host` header, and links do not depend on it. */
export const hostCases: readonly MountCase[] = [
  ...HOSTS.map(([what, hosts]) =>
    mountCase(`${what} causes no failure`, { fix: NO_URL }, (client) => mustStayUp(client, hosts)),
  ),

  mountCase(
    'links begin with the public address or are relative, whatever the Host header says, and keep the query',
    LINKS,
    async (client) => {
      const { publicUrl, organization } = client.known
      const base = publicUrl === undefined ? '?' : `${publicUrl.replace(/\/+$/, '')}/orgs/${organization}/blocks?`
      const answer = await listed(client)
      const header = answer.lines('link').join()
      const links = [...header.matchAll(/<([^>]*)>/g)].map(([, target = '']) => target)
      const areSound = links.every((one) => one.startsWith(base) && one.includes('q=a%2Bb%26c'))
      answer.must(links.length > 0 && areSound, `a Link header with links that begin with ${base} and have q=a%2Bb%26c`)
    },
  ),

  mountCase(
    'a page of a list says how many items there are',
    { ...LINKS, fix: 'let every header of a response through' },
    async (client) => {
      const answer = await listed(client)
      answer.must(Number(answer.lines('x-total-count').join()) > 1, 'an X-Total-Count header: a number above 1')
    },
  ),
]

/**
 * Checks that no Host header causes a failure. Only a request that changes data is checked for its site, and therefore
 * reads the Host header, so this check sends one such request and one that only reads.
 */
async function mustStayUp(client: ContractClient, hosts: readonly (string | readonly string[])[]): Promise<void> {
  const { probe } = client
  for (const Host of hosts) {
    const changing = { ...(probe.unsafe ?? probe), headers: { Host, Origin: 'https://git.example.com' } }
    for (const request of [{ path: probe.path, headers: { Host } }, changing]) {
      const answer = await client.request(request)
      answer.mustBeNoFailure()
    }
  }
  await client.mustStillAnswer()
}

/** Requests the first of at least two pages, with a false Host header and a query that each link must repeat. */
async function listed(client: ContractClient): Promise<Answer> {
  const { organization, users = [] } = client.known
  const path = `/orgs/${organization}/blocks?limit=1&q=a%2Bb%26c`
  const headers = { ...client.credentials, Host: 'elsewhere.example' }
  const requests = users.map((user) => blocking(client, user))
  return whileBlocked(client, requests, () => client.request({ path, headers }, 200))
}

const SITES = "leave crossSite at 'refuse', and pass the handler every header of the request"

/** The headers that browsers send on a cross-site request. */
const FROM_ELSEWHERE: readonly Readonly<Record<string, string>>[] = [
  { 'Sec-Fetch-Site': 'cross-site' },
  { Origin: 'https://elsewhere.example' },
  { Origin: 'null' },
  { 'Sec-Fetch-Site': 'same-site', Origin: 'https://pages.elsewhere.example' },
]
/** The credentials that browsers add automatically to requests for any site. No host knows the last scheme. */
const SENT_BY_BROWSERS = ['Basic Zm9yZ2VsZXQ6eA==', 'Digest username="forgelet"', 'Negotiate YII=', 'Other x']
/** The schemes of `Authorization` that browsers never send automatically. */
const EXEMPT = /^(?:bearer|token) /i

/** Cases about cross-site requests of browsers. They are left out if the host allows such requests. */
export const crossSiteCases: readonly MountCase[] = [
  mountCase('a change requested by another site is 403', { fix: SITES }, async (client) => {
    const withCredentials = SENT_BY_BROWSERS.map((Authorization) => ({ ...FROM_ELSEWHERE[0], Authorization }))
    const requests = [...FROM_ELSEWHERE, ...withCredentials].map((headers) => changing(client, headers))
    await client.mustRefuse(requests, { status: 403, code: 'CROSS_SITE' })
  }),

  mountCase('a request with its own credentials passes from any site', { fix: SITES }, async (client) => {
    const { authorization = '' } = client.known
    const Authorization = EXEMPT.test(authorization) ? authorization : `token ${WRONG_TOKEN}`
    for (const headers of FROM_ELSEWHERE) {
      const answer = await client.request(changing(client, { ...headers, Authorization }))
      answer.mustBeNoFailure()
      answer.must(answer.status !== 403, 'any status but 403')
    }
  }),

  mountCase('a request that changes nothing passes from any site', { fix: SITES }, async (client) =>
    client.mustRefuse(FROM_ELSEWHERE.map((headers) => ({ path: client.probe.path, headers }))),
  ),

  mountCase("the host's own pages may request changes", { fix: SITES }, async (client) => {
    const own = [{ 'Sec-Fetch-Site': 'same-origin' }, { Host: 'git.example.com', Origin: 'https://git.example.com' }]
    await client.mustRefuse(own.map((headers) => changing(client, headers)))
  }),

  mountCase('pages of the public address may request changes', { needs: ['publicUrl'], fix: SITES }, async (client) => {
    const { origin } = new URL(client.known.publicUrl ?? '')
    await client.mustRefuse([changing(client, { Origin: origin })])
  }),
]

/** Returns a request that changes data. The cases are left out if the mounted services have none. */
function changing({ probe }: ContractClient, headers: Readonly<Record<string, string>>): MountRequest {
  return { ...(probe.unsafe ?? probe), headers }
}
