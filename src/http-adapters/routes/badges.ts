import { ForgeError, invalidInput } from '../../schema/errors.ts'
import type { Badge } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { checkEach, textFault } from '../../schema/text.ts'
import type { Violation } from '../../schema/violation.ts'
import { readJson } from './body.ts'
import { userIn } from './inputs.ts'
import { counted, jsonReply, noContent } from './replies.ts'
import type { Route, RouteRequest } from './route.ts'
import { route } from './route.ts'

/** The routes of the badges. */
export const badgeRoutes: readonly Route[] = [
  route('badges', 'adminListUserBadges', 'GET /admin/users/{username}/badges', function* (r) {
    const userId = yield* userIn(r, 'badges.read')
    const grants = yield* wait(r.operations.badges.heldBy(r.actor, userId, r.context))
    return jsonReply(
      grants.map(({ badge }) => badgeJson(badge)),
      counted(grants.length),
    )
  }),
  route('badges', 'adminAddUserBadges', 'POST /admin/users/{username}/badges', function* (r) {
    const userId = yield* userIn(r, 'badges.grant')
    const slugs = yield* slugsIn(r)
    yield* wait(r.operations.badges.grant(r.actor, { userId, slugs }, r.context))
    return noContent
  }),
  route('badges', 'adminDeleteUserBadges', 'DELETE /admin/users/{username}/badges', function* (r) {
    const userId = yield* userIn(r, 'badges.grant')
    const slugs = yield* slugsIn(r)
    yield* wait(r.operations.badges.revoke(r.actor, { userId, slugs }, r.context))
    return noContent
  }),
]

/**
 * Converts a badge to JSON, in both spellings: the one that Gitea's API document promises, and the one that its server
 * sends. Clients of either kind work. Source: docs/behaviour.md, Badges
 */
function badgeJson({ id: text, slug, description, imageUrl }: Badge): object {
  const id = Number(text)
  return {
    id,
    slug,
    description,
    image_url: imageUrl,
    ID: id,
    Slug: slug,
    Description: description,
    ImageURL: imageUrl,
  }
}

const KEY = 'badge_slugs'
/** In characters (code points). */
const MAX_SLUG_LENGTH = 255

/** The slugs in a body `{"badge_slugs": ["a", "b"]}`. Source: docs/behaviour.md, Badges */
function* slugsIn({ request, settings }: RouteRequest): SyncOrAsync<readonly string[]> {
  const list = listIn(yield* readJson(request, settings.limits.maxBodyBytes))
  checkEach(list, violationOf)
  return list.filter(isSlug)
}

function listIn(body: unknown): readonly unknown[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidInput('', 'type', 'the body must be a JSON object')
  }

  const list = KEY in body ? body[KEY] : undefined
  if (Array.isArray(list)) return list
  const isMissing = list === undefined || list === null
  const [pointer, message] = [`/${KEY}`, 'must be a list of slugs']
  const violations = [{ pointer, code: isMissing ? 'required' : 'type', message }]
  throw new ForgeError('INVALID_INPUT', `${pointer}: ${message}`, { violations })
}

function violationOf(slug: unknown, index: number): Violation | undefined {
  const pointer = `/${KEY}/${index}`
  if (!isSlug(slug)) {
    const code = slug === '' ? 'required' : 'type'
    return { pointer, code, message: 'must be a non-empty string' }
  }

  const fault = textFault(slug, MAX_SLUG_LENGTH)
  return fault && { pointer, ...fault }
}

function isSlug(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
