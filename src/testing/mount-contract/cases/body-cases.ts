import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'
import type { Asked } from './request.ts'
import type { Visit } from './visit.ts'

const FACTS: CaseFacts = {
  needs: ['authorization', 'users'],
  service: 'badges',
  mend: 'mount the API before body parsers, or let them take as much as it does; end no connection while a client sends',
}
const DEFAULT_LIMIT = 1_048_576
/** More bytes than the buffers at both ends of a connection hold together. */
const MORE = 6_000_000

/** Cases about bodies that are too long, and bodies that the handler does not read. */
export const bodyCases: readonly MountCase[] = [
  ...(['length', 'chunked'] as const).flatMap((framing) =>
    (['at once', 'late'] as const).map((reading) =>
      mountCase(
        `a body over the limit (${framing}) is 413, also to a client that reads ${reading}`,
        FACTS,
        async (visit) => {
          const asked = { ...granting(visit, limitOf(visit) + MORE), framing }
          const [answer] = await visit.askInTurn([asked], reading)
          answer?.mustRefuse(413, 'BODY_TOO_LARGE')
          await visit.mustLiveOn()
        },
      ),
    ),
  ),

  ...(['length', 'chunked'] as const).map((framing) =>
    mountCase(`a body at the limit is taken, and one byte more is 413 (${framing})`, FACTS, async (visit) => {
      const whole = await visit.ask({ ...granting(visit, limitOf(visit)), framing })
      whole.mustBe(204)
      const more = await visit.ask({ ...granting(visit, limitOf(visit) + 1), framing })
      more.mustRefuse(413, 'BODY_TOO_LARGE')
    }),
  ),

  mountCase(
    'a refusal does not wait for the body',
    { mend: 'mount the API before body parsers: they wait for bodies before anybody is asked' },
    async (visit) => {
      const { path, unsafe, status, code } = visit.probe
      const answer = await visit.ask({ ...(unsafe ?? { path: path(nobody) }), framing: 'never' })
      answer.mustRefuse(status, code)
    },
  ),

  mountCase(
    'who sends no credentials is refused before the body is read',
    { service: 'badges', mend: 'mount the API before body parsers: they read bodies of whoever sends them' },
    async (visit) => {
      const path = `/admin/users/${nobody}/badges`
      for (const method of ['POST', 'DELETE']) {
        const answer = await visit.ask({ method, path, framing: 'never' })
        answer.mustRefuse(401, 'UNAUTHENTICATED')
      }
    },
  ),
]

function limitOf({ known }: Visit): number {
  return known.maxBodyBytes ?? DEFAULT_LIMIT
}

/** Returns a request that grants no badges and has a body of this length. */
function granting(visit: Visit, size: number): Asked {
  const { users: [user] = [''] } = visit.known
  return {
    method: 'POST',
    path: `/admin/users/${user}/badges`,
    headers: { ...visit.credentials, 'Content-Type': 'application/json' },
    body: '{"badge_slugs":[]}'.padEnd(size),
  }
}
