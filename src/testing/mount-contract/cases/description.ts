import type { KnownHost } from '../known-host.ts'

/** A part of the description of a host from which a request is made. */
export type DescribedBy = keyof KnownHost

/** What is wrong with the part that a code of the API is about. By the code, the parts in the order in which they are looked for. */
const WRONG: { readonly [code: string]: readonly (readonly [part: DescribedBy, advice: string])[] } = {
  ROUTE_NOT_FOUND: [
    [
      'services',
      'the API has no such route: name in services only what is mounted, and let prefix be the mount point; without services, all are expected',
    ],
  ],
  ORGANIZATION_NOT_FOUND: [['organization', 'name in organization one that exists']],
  REPOSITORY_NOT_FOUND: [['repository', 'name in repository one that exists and that everyone may read']],
  USER_NOT_FOUND: [['users', 'name in users two who exist']],
  ALREADY_BLOCKED: [['users', 'name in users two whom the organization does not block, or unblock them first']],
  CANNOT_BLOCK_SELF: [['users', 'name in users two others than the user of authorization']],
  CANNOT_BLOCK_MEMBER: [['users', 'name in users two who are not members of the organization']],
  CANNOT_BLOCK_ORGANIZATION: [['users', 'name in users two users, not organizations']],
  INVALID_CREDENTIALS: [['authorization', 'pass in authorization a credential that the application knows']],
  FORBIDDEN: [['authorization', 'pass in authorization the credential of a user who may do everything']],
  BODY_TOO_LARGE: [
    ['maxBodyBytes', 'pass in maxBodyBytes the value that was passed to createApi'],
    ['maxImportBytes', 'pass in maxImportBytes the value that was passed to createApi'],
  ],
}

/** What is wrong with a path of the description, whatever else than the failure or the wait comes from it. */
const PATHS: readonly (readonly [part: DescribedBy, advice: string])[] = [
  ['failing', 'let failing.path be a path of the API, relative to prefix, on which a port throws'],
  ['waiting', 'let waiting.path be a path of the API, relative to prefix, on which a port waits'],
]

/**
 * Returns the advice where a response shows that the description of the host is wrong, and not its mount.
 *
 * @param code - the code of the response; undefined if it is not an error of the API
 * @param describedBy - the parts from which the request was made
 */
export function wrongDescription(code: unknown, describedBy: readonly DescribedBy[] = []): string | undefined {
  if (typeof code !== 'string' || code === 'INTERNAL') return undefined
  const wrong = [...PATHS, ...(Object.hasOwn(WRONG, code) ? (WRONG[code] ?? []) : [])]
  const found = wrong.find(([part]) => describedBy.includes(part))
  return found && `the description that mountContract was given is wrong, not the mount: ${found[1]}`
}
