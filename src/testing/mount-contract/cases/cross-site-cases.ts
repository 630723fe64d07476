import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'
import type { Visit } from './visit.ts'

const MEND = "leave crossSite at 'refuse', and hand the handler every header of the request"

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
    mountCase(`a change that another site asks for is 403 (${how})`, { mend: MEND }, async (visit) => {
      const answer = await visit.ask({ ...changing(visit), headers })
      answer.mustRefuse(403, 'CROSS_SITE')
    }),
  ),

  ...FROM_ELSEWHERE.map(([how, headers]) =>
    mountCase(`what brings credentials passes from anywhere (${how})`, { mend: MEND }, async (visit) => {
      const { authorization = '' } = visit.known
      const Authorization = EXEMPT.test(authorization) ? authorization : 'token forgelet-no-such-token'
      const answer = await visit.ask({ ...changing(visit), headers: { ...headers, Authorization } })
      answer.mustBeNoFailure()
      answer.must(answer.status !== 403, 'anything but 403')
    }),
  ),

  mountCase(
    'a change that another site asks for is 403, also with credentials that browsers add',
    { mend: 'leave the Authorization header of a request as it came' },
    async (visit) => {
      for (const Authorization of SENT_BY_BROWSERS) {
        const headers = { 'Sec-Fetch-Site': 'cross-site', Authorization }
        const answer = await visit.ask({ ...changing(visit), headers })
        answer.mustRefuse(403, 'CROSS_SITE')
      }
    },
  ),

  mountCase('what changes nothing passes from anywhere', { mend: MEND }, async (visit) => {
    for (const [, headers] of FROM_ELSEWHERE) {
      const answer = await visit.ask({ path: visit.probe.path(nobody), headers })
      answer.mustRefuse(visit.probe.status, visit.probe.code)
    }
  }),

  mountCase("the host's own pages may ask for changes", { mend: MEND }, async (visit) => {
    const own = [{ 'Sec-Fetch-Site': 'same-origin' }, { Host: 'git.example.com', Origin: 'https://git.example.com' }]
    for (const headers of own) {
      const answer = await visit.ask({ ...changing(visit), headers })
      answer.mustRefuse(visit.probe.status, visit.probe.code)
    }
  }),

  mountCase('pages of the public address may ask for changes', { needs: ['publicUrl'], mend: MEND }, async (visit) => {
    const { origin } = new URL(visit.known.publicUrl ?? '')
    const answer = await visit.ask({ ...changing(visit), headers: { Origin: origin } })
    answer.mustRefuse(visit.probe.status, visit.probe.code)
  }),
]

/**
 * Returns a request that changes data. If the mounted services have no such request, nothing can be refused, and the
 * cross-site cases are left out.
 */
function changing({ probe }: Visit): { readonly method: string; readonly path: string } {
  return probe.unsafe ?? { method: 'GET', path: probe.path(nobody) }
}
