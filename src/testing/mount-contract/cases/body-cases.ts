import type { ContractClient, MountRequest } from './client.ts'
import { FRAMINGS, MORE, TOO_LARGE } from './client.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

const DEFAULT_LIMIT = 1_048_576
const BIG = 'x'.repeat(300_000)

const READS =
  'mount the API before body parsers, or give them the same limit; do not end a connection while a client is sending'
const LIMITS: CaseFacts = { needs: ['authorization', 'users'], service: 'badges', fix: READS }
const PARSED: CaseFacts = {
  ...LIMITS,
  fix: 'code that reads a body before the API must leave the result in request.body, as body parsers do, or must not read it',
}
const KEPT: CaseFacts = {
  fix: 'answer each request once; neither end the connection nor leave a body unread in it: call next or answer, not both',
}

/** The ways in which clients declare JSON, or omit the declaration. */
const TYPES = ['application/json', 'application/json; charset=utf-8', 'text/plain', '']

/** Cases about bodies that the API reads itself, that a parser has read before it, that are too long, and that nothing reads. */
export const bodyCases: readonly MountCase[] = [
  mountCase(
    'a request is not aborted while its client waits',
    {
      ...LIMITS,
      fix:
        'the signal of the Request is aborted when its body has been read, though the client waits: pass ' +
        "new Request(request.url, { method, headers, body, duplex: 'half' }) with those of the request",
    },
    async (client) => {
      const answer = await client.request(badges(client, '{"badge_slugs":[]}'))
      answer.must(answer.status !== 500, '204, as to every such request of a site administrator')
    },
  ),

  mountCase('a JSON body of any content type is accepted with POST and DELETE', PARSED, async (client) => {
    for (const type of TYPES) {
      for (const method of ['POST', 'DELETE']) {
        for (const framing of FRAMINGS)
          await client.request({ ...badges(client, '{"badge_slugs":[]}', type), method, framing }, 204)
        const refused = await client.request({ ...badges(client, '{"badge_slugs":["",7]}', type), method })
        refused.mustRefuse(422, 'INVALID_INPUT')
        refused.must(/"pointer":"\/badge_slugs\/1"/.test(refused.body), 'a violation that points to /badge_slugs/1')
      }
    }
  }),

  mountCase('a missing body is reported', PARSED, async (client) => {
    await client.mustRefuse([badges(client, undefined, '')], { status: 422, code: 'INVALID_INPUT' })
  }),

  mountCase('a body over the limit is 413, also to a client that reads late', LIMITS, async (client) => {
    const long = badges(client, '{"badge_slugs":[]}'.padEnd(limitOf(client) + MORE))
    const requests: readonly MountRequest[] = [
      { ...long, reading: 'late' },
      { ...long, framing: 'chunked' },
    ]
    await client.mustRefuse(requests, TOO_LARGE)
    await client.mustStillAnswer()
  }),

  mountCase('a body at the limit is accepted, and one byte more is 413', LIMITS, async (client) => {
    for (const framing of FRAMINGS) {
      const whole = badges(client, '{"badge_slugs":[]}'.padEnd(limitOf(client)))
      await client.request({ ...whole, framing }, 204)
      await client.mustRefuse([{ ...whole, framing, body: `${whole.body} ` }], TOO_LARGE)
    }
  }),

  mountCase(
    'a refusal does not wait for the body',
    { fix: 'mount the API before body parsers: they read the body of every client before any check runs' },
    async (client) => client.mustRefuse([{ ...(client.probe.unsafe ?? client.probe), framing: 'unfinished' }]),
  ),

  mountCase('a connection stays usable after a missing resource and a wrong method', KEPT, async (client) => {
    const { probe } = client
    await client.requestAndGoOn(probe, probe.status)
    await client.requestAndGoOn({ ...probe, method: probe.refusedMethod }, 405)
  }),

  mountCase('a connection stays usable after an unread body', KEPT, async (client) => {
    const { probe, known } = client
    const unsafe = { ...(probe.unsafe ?? probe), body: BIG }
    const wrong = { ...unsafe, headers: client.wrongCredentials }
    const requests: (readonly [MountRequest, number])[] = [
      [{ ...probe, method: probe.refusedMethod, body: BIG }, 405],
      [unsafe, probe.status],
      [{ ...unsafe, framing: 'chunked' }, probe.status],
      ...(known.authorization === undefined ? [] : [[wrong, 401] as const]),
    ]
    for (const [request, status] of requests) await client.requestAndGoOn(request, status)
  }),

  mountCase('a connection stays usable after a body over the limit', { ...LIMITS, ...KEPT }, async (client) => {
    await client.requestAndGoOn(badges(client, ' '.repeat(limitOf(client) + 1), ''), 413)
  }),
]

function limitOf({ known }: ContractClient): number {
  return known.maxBodyBytes ?? DEFAULT_LIMIT
}

/** Returns a request about the badges of a known user, without a content type if it is empty. */
function badges({ known, credentials }: ContractClient, body?: string, type = 'application/json'): MountRequest {
  const headers = type === '' ? credentials : { ...credentials, 'Content-Type': type }
  const describedBy = ['services', 'authorization', 'users', 'maxBodyBytes'] as const
  return { method: 'POST', path: `/admin/users/${known.users?.[0]}/badges`, headers, body, describedBy }
}
