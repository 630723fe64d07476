import type { ContractClient } from './client.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

const FIX = "leave crossSite at 'refuse', and pass the handler every header of the request"

/** The headers that browsers send on a cross-site request. */
const FROM_ELSEWHERE: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['Sec-Fetch-Site: cross-site', { 'Sec-Fetch-Site': 'cross-site' }],
  ['Origin: https://elsewhere.example', { Origin: 'https://elsewhere.example' }],
  ['Origin: null', { Origin: 'null' }],
  ['Sec-Fetch-Site: same-site', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://pages.elsewhere.example' }],
]

/** The credentials that browsers add automatically to requests for any site. No host knows the last scheme. */
const SENT_BY_BROWSERS = ['Basic Zm9yZ2VsZXQ6eA==', 'Digest username="forgelet"', 'Negotiate YII=', 'Other x']
/** The schemes of `Authorization` that browsers never send automatically. */
const EXEMPT = /^(?:bearer|token) /i

/** Cases about cross-site requests of browsers. They are left out if the host allows such requests. */
export const crossSiteCases: readonly MountCase[] = [
  ...FROM_ELSEWHERE.map(([how, headers]) =>
    mountCase(`a change requested by another site is 403 (${how})`, { fix: FIX }, async (client) => {
      const answer = await client.request({ ...changing(client), headers })
      answer.mustRefuse(403, 'CROSS_SITE')
    }),
  ),

  ...FROM_ELSEWHERE.map(([how, headers]) =>
    mountCase(`a request with its own credentials passes from any site (${how})`, { fix: FIX }, async (client) => {
      const { authorization = '' } = client.known
      const Authorization = EXEMPT.test(authorization) ? authorization : 'token forgelet-no-such-token'
      const answer = await client.request({ ...changing(client), headers: { ...headers, Authorization } })
      answer.mustBeNoFailure()
      answer.must(answer.status !== 403, 'any status but 403')
    }),
  ),

  mountCase(
    'a change requested by another site is 403, even with credentials that browsers add',
    { fix: 'pass the Authorization header on unchanged' },
    async (client) => {
      for (const Authorization of SENT_BY_BROWSERS) {
        const headers = { 'Sec-Fetch-Site': 'cross-site', Authorization }
        const answer = await client.request({ ...changing(client), headers })
        answer.mustRefuse(403, 'CROSS_SITE')
      }
    },
  ),

  mountCase('a request that changes nothing passes from any site', { fix: FIX }, async (client) => {
    for (const [, headers] of FROM_ELSEWHERE) {
      const answer = await client.request({ path: client.probe.path(UNKNOWN_NAME), headers })
      answer.mustRefuse(client.probe.status, client.probe.code)
    }
  }),

  mountCase("the host's own pages may request changes", { fix: FIX }, async (client) => {
    const own = [{ 'Sec-Fetch-Site': 'same-origin' }, { Host: 'git.example.com', Origin: 'https://git.example.com' }]
    for (const headers of own) {
      const answer = await client.request({ ...changing(client), headers })
      answer.mustRefuse(client.probe.status, client.probe.code)
    }
  }),

  mountCase('pages of the public address may request changes', { needs: ['publicUrl'], fix: FIX }, async (client) => {
    const { origin } = new URL(client.known.publicUrl ?? '')
    const answer = await client.request({ ...changing(client), headers: { Origin: origin } })
    answer.mustRefuse(client.probe.status, client.probe.code)
  }),
]

/**
 * Returns a request that changes data. If the mounted services have no such request, nothing can be refused, and the
 * cross-site cases are left out.
 */
function changing({ probe }: ContractClient): { readonly method: string; readonly path: string } {
  return probe.unsafe ?? { method: 'GET', path: probe.path(UNKNOWN_NAME) }
}
