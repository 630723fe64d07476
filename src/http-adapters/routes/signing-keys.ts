import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { repositoryIn } from './inputs.ts'
import type { HeaderLine, TextResponse } from './messages.ts'
import { emptyReply, textReply } from './replies.ts'
import type { Route, RouteRequest } from './route.ts'
import { route } from './route.ts'

type Format = 'openpgp' | 'ssh'

/**
 * Signing keys: rows 1 to 4 of the specified interface. The instance's key is public; the policy guards a repository's
 * key.
 */
export const signingKeyRoutes: readonly Route[] = [
  route('signing-keys', 'getSigningKey', 'GET /signing-key.gpg', (r) => instanceKey(r, 'openpgp')),
  route('signing-keys', 'repoSigningKey', 'GET /repos/{owner}/{repo}/signing-key.gpg', (r) =>
    repositoryKey(r, 'openpgp'),
  ),
  route('signing-keys', 'getSigningKeySSH', 'GET /signing-key.pub', (r) => instanceKey(r, 'ssh')),
  route('signing-keys', 'repoSigningKeySSH', 'GET /repos/{owner}/{repo}/signing-key.pub', (r) =>
    repositoryKey(r, 'ssh'),
  ),
]

/** The SSH key of the instance at the path that Forgejo has for it. */
export const forgejoKeyRoute: Route = route('signing-keys', 'getSSHSigningKey', 'GET /signing-key.ssh', (r) =>
  instanceKey(r, 'ssh'),
)

function* instanceKey(r: RouteRequest, format: Format): SyncOrAsync<TextResponse> {
  return keyReply(r, yield* wait(r.operations.signingKeys.publicKey(r.actor, { format }, r.context)))
}

function* repositoryKey(r: RouteRequest, format: Format): SyncOrAsync<TextResponse> {
  const repositoryId = yield* repositoryIn(r, 'signing-keys.read')
  return keyReply(r, yield* wait(r.operations.signingKeys.publicKey(r.actor, { format, repositoryId }, r.context)))
}

/** 200 with the key as plain text, or 304 if the client already has it. Source: docs/behaviour.md, Signing keys */
function keyReply(
  { request }: RouteRequest,
  { text, etag }: { readonly text: string; readonly etag: string },
): TextResponse {
  const headers: readonly HeaderLine[] = [['ETag', etag]]
  return hasSeen(request.header('if-none-match'), etag) ? emptyReply(304, headers) : textReply(text, headers)
}

const TAGS = /(?:W\/)?("[^"]*")/g

/**
 * Whether a client that sent this `If-None-Match` already has the text. The comparison is weak: it ignores `W/`.
 * Source: RFC 9110, section 13.1.2
 *
 * @param header - one tag, several, or `*`; undefined if it was not sent
 * @param etag - the tag of the text, in quotes
 */
function hasSeen(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true

  const tag = etag.replace(/^W\//, '')
  return [...header.matchAll(TAGS)].some((match) => match[1] === tag)
}
