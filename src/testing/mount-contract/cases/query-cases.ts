import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import type { Visit } from './visit.ts'

const FACTS = {
  needs: ['authorization', 'organization', 'users'],
  service: 'blocks',
  mend: 'hand the handler the target with its query, as it came: it may get lost where the mount point is cut off',
} as const

/** The maximum length of a note, in characters. */
const LONGEST = 255

/**
 * Cases about queries: they arrive unchanged, and values are decoded once. The length of a note shows how it was
 * decoded.
 */
export const queryCases: readonly MountCase[] = [
  mountCase('a query comes through', FACTS, async (visit) => {
    const answer = await visit.ask(blocking(visit, 'x'.repeat(LONGEST + 1)))
    answer.mustRefuse(422, 'INVALID_INPUT')
  }),

  ...[
    ['%2B', 1],
    ['+', 1],
    ['%F0%9F%90%9B', 1],
    ['%252B', 3],
  ]
    .map(([written, length]) => [String(written), Number(length)] as const)
    .map(([written, length]) =>
      mountCase(`${written} in a query is decoded once`, FACTS, async (visit) => {
        const most = Math.floor(LONGEST / length)
        await kept(visit, async () => {
          const taken = await visit.ask(blocking(visit, written.repeat(most)))
          taken.mustBlock()
        })
        const refused = await visit.ask(blocking(visit, written.repeat(most + 1)))
        refused.mustRefuse(422, 'INVALID_INPUT')
      }),
    ),

  mountCase('a note that is no text is refused', FACTS, async (visit) => {
    const answer = await visit.ask(blocking(visit, '%zz'))
    answer.mustRefuse(422, 'INVALID_INPUT')
  }),
]

function blocking(visit: Visit, note: string): Parameters<Visit['ask']>[0] {
  const { organization = '', users: [user] = [''] } = visit.known
  return { method: 'PUT', path: `/orgs/${organization}/blocks/${user}?note=${note}`, headers: visit.credentials }
}

/** Runs a check, and then removes the block that it may have created. */
async function kept(visit: Visit, deed: () => Promise<void>): Promise<void> {
  const { organization = '', users: [user] = [''] } = visit.known
  try {
    await deed()
  } finally {
    await visit.ask({ method: 'DELETE', path: `/orgs/${organization}/blocks/${user}`, headers: visit.credentials })
  }
}
