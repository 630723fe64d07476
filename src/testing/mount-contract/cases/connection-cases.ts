import type { ContractClient } from './client.ts'
import type { MountCase, Need } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'
import type { RawRequest } from './request.ts'

/** A refused request, after which the connection must stay usable. */
interface Refusal {
  readonly after: string
  readonly needs?: readonly Need[]
  readonly service?: 'badges'
  request(client: ContractClient): RawRequest
  readonly status?: number
}

const BADGES = `/admin/users/${UNKNOWN_NAME}/badges`
const BIG = 'x'.repeat(300_000)

const REFUSALS: readonly Refusal[] = [
  { after: 'a missing resource', request: ({ probe }) => ({ path: probe.path(UNKNOWN_NAME) }) },
  { after: 'a wrong method', request: ({ probe }) => ({ method: 'PUT', path: probe.path(UNKNOWN_NAME) }), status: 405 },
  {
    after: 'a wrong method with a body',
    request: ({ probe }) => ({ method: 'PUT', path: probe.path(UNKNOWN_NAME), body: BIG }),
    status: 405,
  },
  { after: 'an unread body', request: ({ probe }) => ({ ...anUnsafe(probe), body: BIG }) },
  {
    after: 'an unread chunked body',
    request: ({ probe }) => ({ ...anUnsafe(probe), body: BIG, framing: 'chunked' }),
  },
  {
    after: 'missing credentials',
    service: 'badges',
    request: () => ({ method: 'POST', path: BADGES, body: BIG }),
    status: 401,
  },
  {
    after: 'wrong credentials',
    needs: ['authorization'],
    request: ({ probe, wrongCredentials }) => ({ ...anUnsafe(probe), headers: wrongCredentials, body: BIG }),
    status: 401,
  },
  {
    after: 'a body over the limit',
    needs: ['authorization', 'users'],
    service: 'badges',
    request: (client) => ({
      method: 'POST',
      path: `/admin/users/${client.known.users?.[0]}/badges`,
      headers: client.credentials,
      body: ' '.repeat((client.known.maxBodyBytes ?? 1_048_576) + 1),
    }),
    status: 413,
  },
  {
    after: 'a failure',
    needs: ['failing'],
    request: (client) => ({ path: client.known.failing?.path ?? '', headers: client.credentials, body: BIG }),
    status: 500,
  },
]

/** Cases about connections: each request receives one response, and so does the next request on the connection. */
export const connectionCases: readonly MountCase[] = REFUSALS.map(({ after, needs, service, request, status }) =>
  mountCase(
    `a connection stays usable after ${after}`,
    {
      needs,
      service,
      fix: 'answer each request once; neither end the connection nor leave a body unread in it: call next or answer, not both',
    },
    async (client) => {
      const refused = request(client)
      const again = { path: client.probe.path(UNKNOWN_NAME) }
      const [first, second, third] = await client.pipeline([refused, again, again])
      first?.mustBe(status ?? client.probe.status)
      second?.mustRefuse(client.probe.status, client.probe.code)
      third?.mustRefuse(client.probe.status, client.probe.code)
    },
  ),
)

function anUnsafe({ unsafe, path }: ContractClient['probe']): RawRequest {
  return unsafe ?? { path: path(UNKNOWN_NAME) }
}
