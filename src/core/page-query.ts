import { needObject } from '../schema/arguments.ts'
import { invalidInput } from '../schema/errors.ts'
import type { PageRequest } from '../schema/paging.ts'
import type { PageQuery } from '../storage/contract/stores.ts'

const DEFAULT_LIMIT = 30
const MAX_LIMIT = 1000

/** Copies a page request, because a call checks it only after the policy was asked. @throws TypeError if it is not an object */
export function copyPageRequest(request: PageRequest = {}): PageRequest {
  needObject(request, 'page', '{ page: 1, limit: 30 }')
  const { page, after, limit } = request
  return { page, after, limit }
}

/** Checks a page request and applies its defaults. @throws ForgeError `INVALID_INPUT` naming `/page` or `/limit` */
export function toPageQuery({ page = 1, after, limit = DEFAULT_LIMIT }: PageRequest): PageQuery {
  if (!Number.isSafeInteger(page) || page < 1)
    throw invalidInput('/page', 'range', 'page must be an integer, 1 or greater')

  return { from: after === undefined ? { page } : { after }, limit: toLimit(limit) }
}

/** Checks the number of requested items and returns it. @throws ForgeError `INVALID_INPUT` naming `/limit` */
export function toLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw invalidInput('/limit', 'range', `limit must be an integer from 1 to ${MAX_LIMIT}`)
}
