import { invalidInput } from '../../schema/errors.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { errorReply } from './error-reply.ts'
import { accountIn, organizationIn } from './inputs.ts'
import { linkBase, linkHeader, pageIn } from './pages.ts'
import { counted, jsonReply, noContent, presented } from './replies.ts'
import type { Route } from './route.ts'
import { route } from './route.ts'

/** The routes of the blocks. */
export const blockRoutes: readonly Route[] = [
  route('blocks', 'organizationListBlocks', 'GET /orgs/{org}/blocks', function* (r) {
    const organizationId = yield* organizationIn(r, 'blocks.read')
    const page = pageIn(r)
    const { items, total = 0 } = yield* wait(r.operations.blocks.list(r.actor, { organizationId, ...page }, r.context))
    const shown = yield* presented(
      items.map(({ userId }) => userId),
      (ids) => r.settings.present.users(ids, r.context),
    )
    const link = linkHeader(linkBase(r.settings.publicUrl, r.request), r.request.query, { total, ...page })
    return jsonReply(
      shown.filter((user) => user !== undefined),
      counted(total, link),
    )
  }),
  route('blocks', 'organizationCheckUserBlock', 'GET /orgs/{org}/blocks/{username}', function* (r) {
    const organizationId = yield* organizationIn(r, 'blocks.read')
    const { kind, id: userId } = yield* accountIn(r)
    // An organization is never blocked. Its id may also be the id of a user, so the service is not asked.
    const isBlocked =
      kind === 'user' &&
      (yield* wait(r.operations.blocks.find(r.actor, { organizationId, userId }, r.context))) !== undefined
    if (isBlocked) return noContent
    return errorReply(r.settings, 'NOT_BLOCKED', 'user is not blocked', { status: 404 })
  }),
  route('blocks', 'organizationBlockUser', 'PUT /orgs/{org}/blocks/{username}', function* (r) {
    const organizationId = yield* organizationIn(r, 'blocks.write')
    const account = yield* accountIn(r)
    const note = noteIn(r.request.query)
    yield* wait(r.operations.blocks.block(r.actor, { organizationId, account, note }, r.context))
    return noContent
  }),
  route('blocks', 'organizationUnblockUser', 'DELETE /orgs/{org}/blocks/{username}', function* (r) {
    const organizationId = yield* organizationIn(r, 'blocks.write')
    const account = yield* accountIn(r)
    yield* wait(r.operations.blocks.unblock(r.actor, { organizationId, account }, r.context))
    return noContent
  }),
]

/**
 * The note in the query: why the account is blocked. It is decoded strictly, so that the stored note is what was sent:
 * `URLSearchParams` would replace invalid bytes with U+FFFD.
 */
function noteIn(query: string): string | undefined {
  const pair = query.split('&').find((one) => new URLSearchParams(`&${one}`).has('note')) // as it would find the first
  if (pair === undefined) return undefined

  const [, ...value] = pair.split('=')
  try {
    return decodeURIComponent(value.join('=').replaceAll('+', ' '))
  } catch {
    throw invalidInput('/note', 'text', 'note must be percent-encoded UTF-8')
  }
}
