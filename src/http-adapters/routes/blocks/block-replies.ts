import type { Actor } from '../../../core/ports.ts'
import type { Page } from '../../../schema/paging.ts'
import type { Block } from '../../../schema/records.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listOf } from '../json-schema.ts'
import type { ApiRequest, ApiResponse } from '../messages.ts'
import { presented } from '../presented.ts'
import { emptyReply, errorReply, jsonReply, jsonType } from '../reply.ts'
import { counted, countedHeaders } from '../reply-headers.ts'
import type { RequestContext } from '../request-context.ts'
import type { Reply } from '../route.ts'
import type { NumberedPage } from './block-inputs.ts'

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
  write: (exchange, page) => writePage(exchange, page),
}

function writePage<A extends Actor>(
  exchange: RequestContext<A>,
  { blocks, page }: BlockPage,
): MaybePromise<ApiResponse> {
  const { context, request, settings } = exchange
  const ids = blocks.items.map((block) => block.userId)
  const shown = presented(ids, (asked) => settings.present.users(asked, context))

  return after(shown, (things) => {
    const users = things.filter((user) => user !== undefined)
    const link = linkHeader(linkBase(settings.publicUrl, request), request.query, { total: blocks.total, ...page })
    return jsonReply(users, counted(blocks.total, link))
  })
}

/**
 * Without a public address, links must be relative to the request itself: proxies may have stripped any prefix on the
 * way.
 */
function linkBase(publicUrl: string | undefined, request: ApiRequest): string {
  return publicUrl === undefined ? '' : publicUrl + request.path.replace(/\/$/, '')
}

const CREDENTIALS = /^(?:access_)?token$/i

/** The position of a page in its list. */
export interface Paging {
  /** 1-based. A number beyond the last page counts as the last page. */
  readonly page: number
  /** The number of items on a page, from 1 up. */
  readonly limit: number
  readonly total: number
}

/**
 * Builds the `Link` header of one page of a list (RFC 8288), with those of next, last, first and prev that exist. It
 * keeps other query parameters, in alphabetical order, and drops credentials. Source: docs/behaviour.md, Blocks
 *
 * @param base - the text before the query: an absolute address, or `""` for links relative to the request itself
 * @returns undefined if the whole list fits on one page
 */
export function linkHeader(base: string, query: string, paging: Paging): string | undefined {
  const last = Math.max(1, Math.ceil(paging.total / paging.limit))
  const page = Math.min(paging.page, last)
  const link = linkMaker(base, query)

  const forward = page < last ? [link('next', page + 1), link('last', last)] : []
  const back = page > 1 ? [link('first', 1), link('prev', page - 1)] : []
  const links = [...forward, ...back]
  return links.length === 0 ? undefined : links.join(',')
}

function linkMaker(base: string, query: string): (relation: string, page: number) => string {
  const parameters = new URLSearchParams(query)
  for (const name of [...parameters.keys()]) if (CREDENTIALS.test(name)) parameters.delete(name)

  return (relation, page) => {
    parameters.set('page', String(page))
    parameters.sort()
    return `<${base}?${parameters.toString()}>; rel="${relation}"`
  }
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
