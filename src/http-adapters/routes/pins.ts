import { invalidInput } from '../../schema/errors.ts'
import type { PinKind } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { issueIn, parameterIn, parseInteger, repositoryIn } from './inputs.ts'
import type { TextResponse } from './messages.ts'
import { counted, jsonReply, noContent, presented } from './replies.ts'
import type { Route, RouteRequest } from './route.ts'
import { route } from './route.ts'

/** The routes of the pins. */
export const pinRoutes: readonly Route[] = [
  route('pins', 'pinIssue', 'POST /repos/{owner}/{repo}/issues/{index}/pin', function* (r) {
    const issue = yield* issueIn(r, 'pins.write')
    yield* wait(r.operations.pins.pin(r.actor, issue, r.context))
    return noContent
  }),
  route('pins', 'unpinIssue', 'DELETE /repos/{owner}/{repo}/issues/{index}/pin', function* (r) {
    const issue = yield* issueIn(r, 'pins.write')
    yield* wait(r.operations.pins.unpin(r.actor, issue, r.context))
    return noContent
  }),
  route('pins', 'moveIssuePin', 'PATCH /repos/{owner}/{repo}/issues/{index}/pin/{position}', function* (r) {
    const issue = yield* issueIn(r, 'pins.write')
    yield* wait(r.operations.pins.move(r.actor, { issue, position: positionIn(r) }, r.context))
    return noContent
  }),
  route('pins', 'repoListPinnedIssues', 'GET /repos/{owner}/{repo}/issues/pinned', (r) => pinned(r, 'issue')),
  route('pins', 'repoListPinnedPullRequests', 'GET /repos/{owner}/{repo}/pulls/pinned', (r) =>
    pinned(r, 'pullRequest'),
  ),
  route('pins', 'repoNewPinAllowed', 'GET /repos/{owner}/{repo}/new_pin_allowed', function* (r) {
    const repositoryId = yield* repositoryIn(r, 'pins.read')
    const allowed = yield* wait(r.operations.pins.allowed(r.actor, repositoryId, r.context))
    return jsonReply({ issues: allowed.issue, pull_requests: allowed.pullRequest })
  }),
]

/** The presenter's objects in order of position, with `pin_order` overwritten. Items that no longer exist are left out. */
function* pinned(r: RouteRequest, kind: PinKind): SyncOrAsync<TextResponse> {
  const repositoryId = yield* repositoryIn(r, 'pins.read')
  const pins = yield* wait(r.operations.pins.list(r.actor, { repositoryId, kind }, r.context))
  const { present } = r.settings
  const shown = yield* presented(
    pins.map(({ issueId }) => issueId),
    (ids) => {
      if (kind === 'issue') return present.issues(ids, r.context)
      return present.pullRequests?.(ids, r.context) ?? ids.map(() => undefined)
    },
  )
  const list: object[] = []
  for (const [at, { position }] of pins.entries()) {
    const thing = shown[at]
    if (thing !== undefined) list.push(Object.assign({}, thing, { pin_order: position }))
  }
  return jsonReply(list, counted(list.length))
}

/** The position in the path, from 1 up. Source: docs/behaviour.md, Pins */
function positionIn(r: RouteRequest): number {
  const position = parseInteger(parameterIn(r, 'position'))
  if (position !== undefined && position >= 1 && position !== Number.POSITIVE_INFINITY) return position
  throw invalidInput('/position', 'range', 'position must be an integer, 1 or greater')
}
