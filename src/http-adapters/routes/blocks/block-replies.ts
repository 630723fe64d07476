import type { Actor } from '../../../core/ports.ts'
import type { Page } from '../../../schema/paging.ts'
import type { Block } from '../../../schema/records.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listOf } from '../json-schema.ts'
import type { ApiResponse } from '../messages.ts'
import type { NumberedPage } from '../pages.ts'
import { linkBase, linkHeader } from '../pages.ts'
import { presented } from '../presented.ts'
import { emptyReply, errorReply, jsonReply, jsonType } from '../reply.ts'
import { counted, countedHeaders } from '../reply-headers.ts'
import type { RequestContext } from '../request-context.ts'
import type { Reply } from '../route.ts'

/** One page of blocks, with its number and size. */
export interface BlockPage {
  readonly blocks: Page<Block>
  readonly page: NumberedPage
}

/** 200 with one page of the blocked users, and links to the other pages. */
export const blockPage: Reply<BlockPage> = {
  status: 200,
  description: 'list of users',
  body: { type: jsonType, schema: listOf('User') },
  headers: ['Link', ...countedHeaders],
  write: (requestContext, page) => writePage(requestContext, page),
}

function writePage<A extends Actor>(
  requestContext: RequestContext<A>,
  { blocks, page }: BlockPage,
): MaybePromise<ApiResponse> {
  const { context, request, settings } = requestContext
  const ids = blocks.items.map((block) => block.userId)
  const shown = presented(ids, (asked) => settings.present.users(asked, context))

  return after(shown, (things) => {
    const users = things.filter((user) => user !== undefined)
    const link = linkHeader(linkBase(settings.publicUrl, request), request.query, { total: blocks.total, ...page })
    return jsonReply(users, counted(blocks.total, link))
  })
}

/** 204 if the user is blocked; 404 with a JSON body if not. The 404 is a result, not an error. */
export const blockedOrNot: Reply<Block | undefined> = {
  status: 204,
  description: 'the user is blocked',
  headers: [],
  refusals: [{ status: 404, code: 'NOT_BLOCKED' }],
  write: ({ settings: { docsUrl } }, block) =>
    block === undefined ? errorReply('NOT_BLOCKED', 'user is not blocked', { status: 404, docsUrl }) : emptyReply(),
}

/**
 * A user as the host presents it: an object of any shape. These properties, where they exist, have the same meaning as
 * in Gitea.
 */
export const userSchema: JsonSchema = {
  type: 'object',
  description: 'A user, as the host shows it to another signed-in user. The host decides which properties are present.',
  properties: {
    id: { type: ['integer', 'string'], format: 'int64', description: 'id of the account; a number in Gitea' },
    login: { type: 'string', description: 'name of the account' },
    username: { type: 'string', description: 'the same as `login`' },
    full_name: { type: 'string', description: 'display name' },
    email: { type: 'string', description: 'email address, or a placeholder if it is hidden' },
    avatar_url: { type: 'string', description: 'URL of the avatar' },
    html_url: { type: 'string', description: 'URL of the profile page' },
    is_admin: { type: 'boolean', description: 'whether the user is a site admin; false if that is not shown' },
    created: { type: 'string', format: 'date-time', description: 'when the account was created' },
    location: { type: 'string' },
    website: { type: 'string' },
    description: { type: 'string' },
    visibility: { type: 'string', description: '`public`, `limited` or `private`' },
  },
}
