import type { Answer } from './answer.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import type { Visit } from './visit.ts'

const MEND = 'give createApi the publicUrl under which clients see the mount point, or none'

/** A query that every link must contain as it was sent, with an encoded plus sign and ampersand. */
const QUERY = 'limit=1&q=a%2Bb%26c'

/** Cases about links to other pages. */
export const linkCases: readonly MountCase[] = [
  mountCase('links begin with the public address, whatever the Host header says', facts('publicUrl'), async (visit) => {
    const { publicUrl = '', organization = '' } = visit.known
    const base = `${publicUrl.replace(/\/+$/, '')}/orgs/${organization}/blocks`
    const answer = await listed(visit)
    answer.must(
      targets(answer).every((one) => one.startsWith(`${base}?`)),
      `links that begin with ${base}?`,
    )
  }),

  mountCase('links tell nothing of the Host header, and keep the query', facts(), async (visit) => {
    const answer = await listed(visit)
    const found = targets(answer)
    answer.must(
      found.length > 0 && found.every((one) => !one.includes('elsewhere.example') && one.includes('q=a%2Bb%26c')),
      'a Link header with q=a%2Bb%26c and without the host',
    )
    if (visit.known.publicUrl !== undefined) return
    answer.must(
      found.every((one) => one.startsWith('?')),
      'links that are relative: <?...>',
    )
  }),
]

function facts(...more: readonly 'publicUrl'[]): CaseFacts {
  return { needs: ['authorization', 'organization', 'users', ...more], service: 'blocks', mend: MEND }
}

/** Requests the first of at least two pages, with a false Host header. */
async function listed(visit: Visit): Promise<Answer> {
  const { organization = '', users = [] } = visit.known
  const headers = visit.credentials
  const blocks = `/orgs/${organization}/blocks`
  try {
    for (const user of users) {
      const blocked = await visit.ask({ method: 'PUT', path: `${blocks}/${user}`, headers })
      blocked.mustBlock()
    }
    const answer = await visit.ask({
      path: `${blocks}?${QUERY}`,
      headers: { ...headers, Host: 'elsewhere.example' },
    })
    answer.mustBe(200)
    return answer
  } finally {
    for (const user of users) await visit.ask({ method: 'DELETE', path: `${blocks}/${user}`, headers })
  }
}

function targets(answer: Answer): readonly string[] {
  return [
    ...answer
      .lines('link')
      .join()
      .matchAll(/<([^>]*)>/g),
  ].map(([, target = '']) => target)
}
