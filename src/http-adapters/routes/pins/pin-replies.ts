import type { Actor } from '../../../core/ports.ts'
import type { Pin, PinKind } from '../../../schema/records.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listOf, refTo } from '../json-schema.ts'
import type { ApiResponse } from '../messages.ts'
import { presented } from '../presented.ts'
import { jsonReply, jsonType } from '../reply.ts'
import { counted, countedHeaders } from '../reply-headers.ts'
import type { RequestContext } from '../request-context.ts'
import type { Reply } from '../route.ts'

/** 200 with the pinned issues or pull requests, in order of position. */
export function pinnedList(kind: PinKind): Reply<readonly Pin[]> {
  return {
    status: 200,
    description: kind === 'issue' ? 'list of issues' : 'list of pull requests',
    body: { type: jsonType, schema: listOf(kind === 'issue' ? 'Issue' : 'PullRequest') },
    headers: countedHeaders,
    write: (requestContext, pins) => writePinned(requestContext, kind, pins),
  }
}

function writePinned<A extends Actor>(
  { settings, context }: RequestContext<A>,
  kind: PinKind,
  pins: readonly Pin[],
): MaybePromise<ApiResponse> {
  const ids = pins.map((pin) => pin.issueId)
  const { present } = settings
  const shown = presented(ids, (asked) =>
    kind === 'issue' ? present.issues(asked, context) : present.pullRequests(asked, context),
  )

  return after(shown, (things) => {
    const list = pinnedJson(pins, things)
    return jsonReply(list, counted(list.length))
  })
}

/** 200 with two booleans, one per kind. */
export const pinsAllowed: Reply<{ readonly [K in PinKind]: boolean }> = {
  status: 200,
  description: 'whether another issue and another pull request may be pinned',
  body: { type: jsonType, schema: refTo('PinsAllowed') },
  headers: [],
  write: (_exchange, allowed) => jsonReply(pinsAllowedJson(allowed)),
}

/**
 * Builds the pinned list: the presenter's objects in order of position, with `pin_order` overwritten. Items that no
 * longer exist are left out.
 *
 * @param shown - one object per pin, in the same order; the objects are copied, and so must have no `toJSON`
 */
function pinnedJson(pins: readonly Pin[], shown: readonly (object | undefined)[]): readonly object[] {
  const list: object[] = []
  for (const [index, { position }] of pins.entries()) {
    const thing = shown[index]
    if (thing !== undefined) list.push(Object.assign({}, thing, { pin_order: position }))
  }
  return list
}

/** Whether another issue and another pull request may be pinned. */
export interface PinsAllowedJson {
  readonly issues: boolean
  readonly pull_requests: boolean
}

/** The schema of `PinsAllowedJson`. */
export const pinsAllowedSchema: JsonSchema = {
  type: 'object',
  required: ['issues', 'pull_requests'] satisfies (keyof PinsAllowedJson)[],
  additionalProperties: false,
  properties: {
    issues: { type: 'boolean', description: 'whether another issue may be pinned' },
    pull_requests: { type: 'boolean', description: 'whether another pull request may be pinned' },
  } satisfies Record<keyof PinsAllowedJson, JsonSchema>,
}

/** Converts the result to JSON. */
function pinsAllowedJson(allowed: { readonly [K in PinKind]: boolean }): PinsAllowedJson {
  return { issues: allowed.issue, pull_requests: allowed.pullRequest }
}

const USER_OR_NULL: JsonSchema = { anyOf: [refTo('User'), { type: 'null' }] }
const TIME_OR_NULL: JsonSchema = { type: ['string', 'null'], format: 'date-time' }

const LABEL: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer', format: 'int64' },
    name: { type: 'string' },
    color: { type: 'string', description: 'six hexadecimal digits' },
    description: { type: 'string' },
    url: { type: 'string' },
  },
}

/** The properties that pinned issues and pull requests share in responses. */
const PINNED: Readonly<Record<string, JsonSchema>> = {
  pin_order: { type: 'integer', minimum: 1, description: 'position on the board, starting at 1, without gaps' },
  id: {
    type: ['integer', 'string'],
    format: 'int64',
    description: 'id, unique on the server; a number in Gitea',
  },
  number: { type: 'integer', format: 'int64', description: 'index in the repository' },
  url: { type: 'string' },
  html_url: { type: 'string', description: 'URL of the web page' },
  title: { type: 'string' },
  body: { type: 'string', description: 'the text, in Markdown' },
  user: { ...USER_OR_NULL, description: 'the author' },
  state: { type: 'string', description: '`open` or `closed`' },
  is_locked: { type: 'boolean', description: 'whether only privileged users may comment' },
  comments: { type: 'integer', description: 'number of comments' },
  labels: { type: ['array', 'null'], items: LABEL },
  milestone: { type: ['object', 'null'] },
  assignee: { ...USER_OR_NULL, description: 'the first of the assignees' },
  assignees: { type: ['array', 'null'], items: refTo('User') },
  created_at: TIME_OR_NULL,
  updated_at: TIME_OR_NULL,
  closed_at: TIME_OR_NULL,
  due_date: TIME_OR_NULL,
}

/** A pinned issue: the host's object, with its place on the board. */
export const issueSchema: JsonSchema = {
  type: 'object',
  description:
    'A pinned issue, as the host shows it. Except for `pin_order`, the host decides which properties are present.',
  required: ['pin_order'],
  properties: {
    ...PINNED,
    repository: { type: ['object', 'null'], description: 'its repository: `id`, `name`, `owner`, `full_name`' },
  },
}

/** A pinned pull request: the host's object, with its place on the board. */
export const pullRequestSchema: JsonSchema = {
  type: 'object',
  description:
    'A pinned pull request, as the host shows it. Except for `pin_order`, the host decides which properties are present.',
  required: ['pin_order'],
  properties: {
    ...PINNED,
    draft: { type: 'boolean', description: 'whether it is a draft' },
    mergeable: { type: 'boolean' },
    merged: { type: 'boolean' },
    merged_at: TIME_OR_NULL,
    merged_by: USER_OR_NULL,
    base: { type: ['object', 'null'], description: 'the target branch: `label`, `ref`, `sha`, `repo_id`, `repo`' },
    head: { type: ['object', 'null'], description: 'the source branch, with the same properties' },
  },
}
