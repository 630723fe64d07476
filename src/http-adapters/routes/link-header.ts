const CREDENTIALS = /^(?:access_)?token$/i

/** Where a page stands in its list. */
export interface Paging {
  /** 1-based; beyond the last page counts as the last. */
  readonly page: number
  /** Items on a page, from 1 up. */
  readonly limit: number
  readonly total: number
}

/**
 * The `Link` header of one page of a list (RFC 8288): next, last, first, prev, those that exist. Other query parameters
 * are kept, in alphabetical order; credentials are dropped. Source: docs/behaviour.md, Blocks
 *
 * @param base - what the query is put behind: an absolute address, or `""` for links relative to the request itself
 * @returns undefined when everything fits on one page
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
