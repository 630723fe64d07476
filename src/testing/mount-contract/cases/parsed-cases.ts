import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import type { Visit } from './visit.ts'

const FACTS: CaseFacts = {
  needs: ['authorization', 'users'],
  service: 'badges',
  mend: 'what reads bodies before the API leaves what it read in request.body, as body parsers do, or reads none',
}

/** The ways in which clients declare JSON, or omit the declaration. */
const TYPES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['as application/json', { 'Content-Type': 'application/json' }],
  ['with a charset', { 'Content-Type': 'application/json; charset=utf-8' }],
  ['as text', { 'Content-Type': 'text/plain' }],
  ['without a content type', {}],
]

/** Cases about bodies that the API reads itself, or that a parser has read before it. */
export const parsedCases: readonly MountCase[] = [
  ...TYPES.map(([how, headers]) =>
    mountCase(`a JSON body ${how} is taken, of POST and of DELETE`, FACTS, async (visit) => {
      for (const method of ['POST', 'DELETE']) {
        for (const framing of ['length', 'chunked'] as const) {
          const taken = await visit.ask({ ...badges(visit, method, headers), body: '{"badge_slugs":[]}', framing })
          taken.mustBe(204)
        }
        const refused = await visit.ask({ ...badges(visit, method, headers), body: '{"badge_slugs":["",7]}' })
        refused.mustRefuse(422, 'INVALID_INPUT')
        refused.must(/"pointer":"\/badge_slugs\/1"/.test(refused.body), 'a violation that points to /badge_slugs/1')
      }
    }),
  ),

  mountCase('a body that is missing is told', FACTS, async (visit) => {
    const answer = await visit.ask(badges(visit, 'POST', {}))
    answer.mustRefuse(422, 'INVALID_INPUT')
  }),
]

function badges(visit: Visit, method: string, headers: Readonly<Record<string, string>>): Parameters<Visit['ask']>[0] {
  const { users: [user] = [''] } = visit.known
  return { method, path: `/admin/users/${user}/badges`, headers: { ...visit.credentials, ...headers } }
}
