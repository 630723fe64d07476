import type { ContractClient } from './client.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

const FACTS = {
  needs: ['authorization', 'organization', 'users'],
  service: 'blocks',
  fix: 'pass the handler the target with its query unchanged: the query is often lost where the mount path is removed',
} as const

/** The maximum length of a note, in characters. */
const MAX_NOTE_LENGTH = 255

/**
 * Cases about queries: they arrive unchanged, and values are decoded once. The length of a note shows how it was
 * decoded.
 */
export const queryCases: readonly MountCase[] = [
  mountCase('a query reaches the handler', FACTS, async (client) => {
    const answer = await client.request(blocking(client, 'x'.repeat(MAX_NOTE_LENGTH + 1)))
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
      mountCase(`${written} in a query is decoded once`, FACTS, async (client) => {
        const most = Math.floor(MAX_NOTE_LENGTH / length)
        await kept(client, async () => {
          const taken = await client.request(blocking(client, written.repeat(most)))
          taken.mustBlock()
        })
        const refused = await client.request(blocking(client, written.repeat(most + 1)))
        refused.mustRefuse(422, 'INVALID_INPUT')
      }),
    ),

  mountCase('a note that is not valid text is refused', FACTS, async (client) => {
    const answer = await client.request(blocking(client, '%zz'))
    answer.mustRefuse(422, 'INVALID_INPUT')
  }),
]

function blocking(client: ContractClient, note: string): Parameters<ContractClient['request']>[0] {
  const { organization = '', users: [user] = [''] } = client.known
  return { method: 'PUT', path: `/orgs/${organization}/blocks/${user}?note=${note}`, headers: client.credentials }
}

/** Runs a check, and then removes the block that it may have created. */
async function kept(client: ContractClient, deed: () => Promise<void>): Promise<void> {
  const { organization = '', users: [user] = [''] } = client.known
  try {
    await deed()
  } finally {
    await client.request({
      method: 'DELETE',
      path: `/orgs/${organization}/blocks/${user}`,
      headers: client.credentials,
    })
  }
}
