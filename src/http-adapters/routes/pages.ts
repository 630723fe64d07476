import { parseInteger } from './inputs.ts'
import type { ApiRequest } from './messages.ts'
import type { RouteRequest } from './route.ts'

/** A page, identified by its number. */
interface NumberedPage {
  /** 1-based. */
  readonly page: number
  readonly limit: number
}

/** The page number and size in the query, read leniently. Source: docs/behaviour.md, Blocks */
export function pageIn({ request, settings: { limits } }: RouteRequest): NumberedPage {
  const parameters = new URLSearchParams(request.query)
  const limit = Math.min(positive(parameters.get('limit')) ?? limits.defaultPageSize, limits.maxPageSize)
  const mostPages = Math.floor(Number.MAX_SAFE_INTEGER / limit) // keeps row offsets within safe integers

  return { page: Math.min(positive(parameters.get('page')) ?? 1, mostPages), limit }
}

function positive(text: string | null): number | undefined {
  const value = parseInteger(text ?? '')
  return value === 0 ? undefined : value
}

/**
 * Returns the text before the query of the links to other pages. Without a public address, they are
 * relative to the request itself: proxies may have stripped any prefix on the way.
 */
export function linkBase(publicUrl: string | undefined, request: ApiRequest): string {
  return publicUrl === undefined ? '' : publicUrl + request.path.replace(/\/$/, '')
}

const CREDENTIALS = /^(?:access_)?token$/i

/**
 * Builds the `Link` header of one page of a list (RFC 8288), with those of next, last, first and prev that exist. It
 * keeps other query parameters, in alphabetical order, and drops credentials. A page beyond the last one counts as the last one. Source: docs/behaviour.md, Blocks
 *
 * @param base - the text before the query: an absolute address, or `""` for links relative to the request itself
 * @returns undefined if the whole list fits on one page
 */
export function linkHeader(
  base: string,
  query: string,
  { page, limit, total }: NumberedPage & { readonly total: number },
): string | undefined {
  const parameters = new URLSearchParams(query)
  for (const name of [...parameters.keys()]) if (CREDENTIALS.test(name)) parameters.delete(name)
  const link = (relation: string, number: number): string => {
    parameters.set('page', String(number))
    parameters.sort()
    return `<${base}?${parameters.toString()}>; rel="${relation}"`
  }

  const last = Math.max(1, Math.ceil(total / limit))
  const shown = Math.min(page, last)
  const forward = shown < last ? [link('next', shown + 1), link('last', last)] : []
  const back = shown > 1 ? [link('first', 1), link('prev', shown - 1)] : []
  const links = [...forward, ...back]
  return links.length === 0 ? undefined : links.join(',')
}
