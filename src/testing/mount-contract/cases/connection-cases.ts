import type { MountCase, Need } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'
import type { Asked } from './request.ts'
import type { Visit } from './visit.ts'

/** A refused request, after which the connection must stay usable. */
interface Refusal {
  readonly after: string
  readonly needs?: readonly Need[]
  readonly service?: 'badges'
  asked(visit: Visit): Asked
  readonly status?: number
}

const BADGES = `/admin/users/${nobody}/badges`
const BIG = 'x'.repeat(300_000)

const REFUSALS: readonly Refusal[] = [
  { after: 'what there is not', asked: ({ probe }) => ({ path: probe.path(nobody) }) },
  { after: 'a wrong method', asked: ({ probe }) => ({ method: 'PUT', path: probe.path(nobody) }), status: 405 },
  {
    after: 'a wrong method with a body',
    asked: ({ probe }) => ({ method: 'PUT', path: probe.path(nobody), body: BIG }),
    status: 405,
  },
  { after: 'a body that nobody reads', asked: ({ probe }) => ({ ...anUnsafe(probe), body: BIG }) },
  {
    after: 'a chunked body that nobody reads',
    asked: ({ probe }) => ({ ...anUnsafe(probe), body: BIG, framing: 'chunked' }),
  },
  {
    after: 'missing credentials',
    service: 'badges',
    asked: () => ({ method: 'POST', path: BADGES, body: BIG }),
    status: 401,
  },
  {
    after: 'wrong credentials',
    needs: ['authorization'],
    asked: ({ probe, wrongCredentials }) => ({ ...anUnsafe(probe), headers: wrongCredentials, body: BIG }),
    status: 401,
  },
  {
    after: 'a body over the limit',
    needs: ['authorization', 'users'],
    service: 'badges',
    asked: (visit) => ({
      method: 'POST',
      path: `/admin/users/${visit.known.users?.[0]}/badges`,
      headers: visit.credentials,
      body: ' '.repeat((visit.known.maxBodyBytes ?? 1_048_576) + 1),
    }),
    status: 413,
  },
  {
    after: 'a failure',
    needs: ['failing'],
    asked: (visit) => ({ path: visit.known.failing?.path ?? '', headers: visit.credentials, body: BIG }),
    status: 500,
  },
]

/** Cases about connections: each request receives one response, and so does the next request on the connection. */
export const connectionCases: readonly MountCase[] = REFUSALS.map(({ after, needs, service, asked, status }) =>
  mountCase(
    `a connection goes on after ${after}`,
    {
      needs,
      service,
      mend: 'answer each request once, and neither end the connection nor leave a body in it: call next or answer, not both',
    },
    async (visit) => {
      const refused = asked(visit)
      const again = { path: visit.probe.path(nobody) }
      const [first, second, third] = await visit.askInTurn([refused, again, again])
      first?.mustBe(status ?? visit.probe.status)
      second?.mustRefuse(visit.probe.status, visit.probe.code)
      third?.mustRefuse(visit.probe.status, visit.probe.code)
    },
  ),
)

function anUnsafe({ unsafe, path }: Visit['probe']): Asked {
  return unsafe ?? { path: path(nobody) }
}
