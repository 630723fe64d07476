import type { ContractClient } from './client.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

const FACTS: CaseFacts = {
  needs: ['authorization', 'users'],
  service: 'badges',
  fix: 'code that reads a body before the API must leave the result in request.body, as body parsers do, or must not read it',
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
    mountCase(`a JSON body ${how} is accepted with POST and DELETE`, FACTS, async (client) => {
      for (const method of ['POST', 'DELETE']) {
        for (const framing of ['length', 'chunked'] as const) {
          const taken = await client.request({
            ...badges(client, method, headers),
            body: '{"badge_slugs":[]}',
            framing,
          })
          taken.mustBe(204)
        }
        const refused = await client.request({ ...badges(client, method, headers), body: '{"badge_slugs":["",7]}' })
        refused.mustRefuse(422, 'INVALID_INPUT')
        refused.must(/"pointer":"\/badge_slugs\/1"/.test(refused.body), 'a violation that points to /badge_slugs/1')
      }
    }),
  ),

  mountCase('a missing body is reported', FACTS, async (client) => {
    const answer = await client.request(badges(client, 'POST', {}))
    answer.mustRefuse(422, 'INVALID_INPUT')
  }),
]

function badges(
  client: ContractClient,
  method: string,
  headers: Readonly<Record<string, string>>,
): Parameters<ContractClient['request']>[0] {
  const { users: [user] = [''] } = client.known
  return { method, path: `/admin/users/${user}/badges`, headers: { ...client.credentials, ...headers } }
}
