import type { Blocker } from '../../core/blocks/block-inputs.ts'
import type { ForgeErrorCode } from '../../schema/errors.ts'
import { invalidInput, isForgeError } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { errorReply } from './error-reply.ts'
import { wireId, wireTime } from './gitea-objects.ts'
import { accountIn, callerIn, organizationIn } from './inputs.ts'
import { linkBase, linkHeader, pageIn } from './pages.ts'
import { counted, jsonReply, noContent, presented } from './replies.ts'
import type { Route, RouteRequest } from './route.ts'
import { route } from './route.ts'

/** Whose blocks the paths are about: how the operations and the paths begin, and who it is in a request. */
interface Side {
  readonly operations: 'organization' | 'user'
  /** The same in Forgejo. */
  readonly forgejo: 'org' | 'user'
  readonly path: '/orgs/{org}' | '/user'
  /** Finds who blocks, after the policy has allowed the caller to read or change those blocks. */
  blockerIn(r: RouteRequest, operation: 'read' | 'write'): SyncOrAsync<Id>
  /** Adds who blocks to an input of the service. */
  by<T extends object>(blocker: Id, input: T): Blocker & T
}

const OF_ORGANIZATION: Side = {
  operations: 'organization',
  forgejo: 'org',
  path: '/orgs/{org}',
  blockerIn: (r, operation) => organizationIn(r, operation === 'read' ? 'blocks.read' : 'blocks.write'),
  by: (organizationId, input) => ({ organizationId, ...input }),
}

const OF_CALLER: Side = {
  operations: 'user',
  forgejo: 'user',
  path: '/user',
  blockerIn: (r, operation) => callerIn(r, operation === 'read' ? 'user-blocks.read' : 'user-blocks.write'),
  by: (blockerId, input) => ({ blockerId, ...input }),
}

/** The routes of the blocks: those of an organization, and those of the caller. */
export const blockRoutes: readonly Route[] = [OF_ORGANIZATION, OF_CALLER].flatMap(routesOf)

/** The same in Forgejo's paths and shapes: there is no note, and what is done already is no error. */
export const forgejoBlockRoutes: readonly Route[] = [OF_ORGANIZATION, OF_CALLER].flatMap(forgejoRoutesOf)

function routesOf({ operations, path, blockerIn, by }: Side): readonly Route[] {
  return [
    route('blocks', `${operations}ListBlocks`, `GET ${path}/blocks`, function* (r) {
      const blocker = yield* blockerIn(r, 'read')
      const page = pageIn(r)
      const { items, total = 0 } = yield* wait(r.operations.blocks.list(r.actor, by(blocker, page), r.context))
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
    route('blocks', `${operations}CheckUserBlock`, `GET ${path}/blocks/{username}`, function* (r) {
      const blocker = yield* blockerIn(r, 'read')
      const { kind, id: userId } = yield* accountIn(r)
      // An organization is never blocked. Its id may also be the id of a user, so the service is not asked.
      const isBlocked =
        kind === 'user' &&
        (yield* wait(r.operations.blocks.find(r.actor, by(blocker, { userId }), r.context))) !== undefined
      if (isBlocked) return noContent
      return errorReply(r.settings, 'NOT_BLOCKED', 'user is not blocked', { status: 404 })
    }),
    route('blocks', `${operations}BlockUser`, `PUT ${path}/blocks/{username}`, function* (r) {
      const blocker = yield* blockerIn(r, 'write')
      const account = yield* accountIn(r)
      const note = noteIn(r.request.query)
      yield* wait(r.operations.blocks.block(r.actor, by(blocker, { account, note }), r.context))
      return noContent
    }),
    route('blocks', `${operations}UnblockUser`, `DELETE ${path}/blocks/{username}`, function* (r) {
      const blocker = yield* blockerIn(r, 'write')
      const account = yield* accountIn(r)
      yield* wait(r.operations.blocks.unblock(r.actor, by(blocker, { account }), r.context))
      return noContent
    }),
  ]
}

function forgejoRoutesOf({ forgejo, path, blockerIn, by }: Side): readonly Route[] {
  return [
    route('blocks', `${forgejo}ListBlockedUsers`, `GET ${path}/list_blocked`, function* (r) {
      const blocker = yield* blockerIn(r, 'read')
      const page = pageIn(r)
      const { items, total = 0 } = yield* wait(r.operations.blocks.list(r.actor, by(blocker, page), r.context))
      return jsonReply(
        items.map(({ userId, blockedAt }) => ({ block_id: wireId(userId), created_at: wireTime(blockedAt) })),
        counted(total),
      )
    }),
    route('blocks', `${forgejo}BlockUser`, `PUT ${path}/block/{username}`, function* (r) {
      const blocker = yield* blockerIn(r, 'write')
      const account = yield* accountIn(r)
      yield* unlessDone('ALREADY_BLOCKED', () =>
        r.operations.blocks.block(r.actor, by(blocker, { account }), r.context),
      )
      return noContent
    }),
    route('blocks', `${forgejo}UnblockUser`, `PUT ${path}/unblock/{username}`, function* (r) {
      const blocker = yield* blockerIn(r, 'write')
      const account = yield* accountIn(r)
      yield* unlessDone('NOT_BLOCKED', () => r.operations.blocks.unblock(r.actor, by(blocker, { account }), r.context))
      return noContent
    }),
  ]
}

/** Makes a change, and does not fail if it is made already: then it throws this code. */
function* unlessDone(code: ForgeErrorCode, change: () => unknown): SyncOrAsync<void> {
  try {
    yield* wait(change())
  } catch (error) {
    if (!isForgeError(error, code)) throw error
  }
}

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
