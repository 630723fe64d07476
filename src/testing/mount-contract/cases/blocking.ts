import type { Answer } from './answer.ts'
import type { ContractClient, MountRequest } from './client.ts'

/** Returns a request about the block of a user by the known organization. */
export function blocking({ known, credentials }: ContractClient, user: string | undefined, query = ''): MountRequest {
  return {
    method: 'PUT',
    path: `/orgs/${known.organization}/blocks/${user}${query}`,
    headers: credentials,
    describedBy: ['services', 'authorization', 'organization', 'users'],
  }
}

/**
 * Requires that these requests each block a user, asks something then, and unblocks those users. A user whom the
 * organization blocked before stays blocked.
 */
export async function whileBlocked<T>(
  client: ContractClient,
  requests: readonly MountRequest[],
  ask: () => Promise<T>,
): Promise<T> {
  const blocked: MountRequest[] = []
  try {
    for (const request of requests) {
      blocked.push(request)
      const answer: Answer = await client.request(request)
      if (answer.json['code'] === 'ALREADY_BLOCKED') blocked.pop()
      answer.mustBe(204)
    }
    return await ask()
  } finally {
    for (const { path, ...request } of blocked) {
      await client.request({ ...request, method: 'DELETE', path: path.replace(/\?.*/, '') })
    }
  }
}
