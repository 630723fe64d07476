import type { Answer } from './answer.ts'
import type { ContractClient } from './client.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

const FIX = 'pass createApi the publicUrl at which clients see the mount point, or omit it'

/** A query that every link must contain as it was sent, with an encoded plus sign and ampersand. */
const QUERY = 'limit=1&q=a%2Bb%26c'

/** Cases about links to other pages. */
export const linkCases: readonly MountCase[] = [
  mountCase(
    'links begin with the public address, whatever the Host header says',
    facts('publicUrl'),
    async (client) => {
      const { publicUrl = '', organization = '' } = client.known
      const base = `${publicUrl.replace(/\/+$/, '')}/orgs/${organization}/blocks`
      const answer = await listed(client)
      answer.must(
        targets(answer).every((one) => one.startsWith(`${base}?`)),
        `links that begin with ${base}?`,
      )
    },
  ),

  mountCase('links do not contain the Host header, and keep the query', facts(), async (client) => {
    const answer = await listed(client)
    const found = targets(answer)
    answer.must(
      found.length > 0 && found.every((one) => !one.includes('elsewhere.example') && one.includes('q=a%2Bb%26c')),
      'a Link header with q=a%2Bb%26c and without the host',
    )
    if (client.known.publicUrl !== undefined) return
    answer.must(
      found.every((one) => one.startsWith('?')),
      'links that are relative: <?...>',
    )
  }),
]

function facts(...more: readonly 'publicUrl'[]): CaseFacts {
  return { needs: ['authorization', 'organization', 'users', ...more], service: 'blocks', fix: FIX }
}

/** Requests the first of at least two pages, with a false Host header. */
async function listed(client: ContractClient): Promise<Answer> {
  const { organization = '', users = [] } = client.known
  const headers = client.credentials
  const blocks = `/orgs/${organization}/blocks`
  try {
    for (const user of users) {
      const blocked = await client.request({ method: 'PUT', path: `${blocks}/${user}`, headers })
      blocked.mustBlock()
    }
    const answer = await client.request({
      path: `${blocks}?${QUERY}`,
      headers: { ...headers, Host: 'elsewhere.example' },
    })
    answer.mustBe(200)
    return answer
  } finally {
    for (const user of users) await client.request({ method: 'DELETE', path: `${blocks}/${user}`, headers })
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
