import type { ContractClient } from './client.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'
import type { RawRequest } from './request.ts'

const FACTS: CaseFacts = {
  needs: ['authorization', 'users'],
  service: 'badges',
  fix: 'mount the API before body parsers, or give them the same limit; do not end a connection while a client is sending',
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
        async (client) => {
          const request = { ...granting(client, limitOf(client) + MORE), framing }
          const [answer] = await client.pipeline([request], reading)
          answer?.mustRefuse(413, 'BODY_TOO_LARGE')
          await client.mustStillAnswer()
        },
      ),
    ),
  ),

  ...(['length', 'chunked'] as const).map((framing) =>
    mountCase(`a body at the limit is accepted, and one byte more is 413 (${framing})`, FACTS, async (client) => {
      const whole = await client.request({ ...granting(client, limitOf(client)), framing })
      whole.mustBe(204)
      const more = await client.request({ ...granting(client, limitOf(client) + 1), framing })
      more.mustRefuse(413, 'BODY_TOO_LARGE')
    }),
  ),

  mountCase(
    'a refusal does not wait for the body',
    { fix: 'mount the API before body parsers: they wait for the body before any check runs' },
    async (client) => {
      const { path, unsafe, status, code } = client.probe
      const answer = await client.request({ ...(unsafe ?? { path: path(UNKNOWN_NAME) }), framing: 'never' })
      answer.mustRefuse(status, code)
    },
  ),

  mountCase(
    'a request without credentials is refused before its body is read',
    { service: 'badges', fix: 'mount the API before body parsers: they read the body of every client' },
    async (client) => {
      const path = `/admin/users/${UNKNOWN_NAME}/badges`
      for (const method of ['POST', 'DELETE']) {
        const answer = await client.request({ method, path, framing: 'never' })
        answer.mustRefuse(401, 'UNAUTHENTICATED')
      }
    },
  ),
]

function limitOf({ known }: ContractClient): number {
  return known.maxBodyBytes ?? DEFAULT_LIMIT
}

/** Returns a request that grants no badges and has a body of this length. */
function granting(client: ContractClient, size: number): RawRequest {
  const { users: [user] = [''] } = client.known
  return {
    method: 'POST',
    path: `/admin/users/${user}/badges`,
    headers: { ...client.credentials, 'Content-Type': 'application/json' },
    body: '{"badge_slugs":[]}'.padEnd(size),
  }
}
