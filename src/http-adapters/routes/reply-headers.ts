import type { HeaderLine } from './messages.ts'

/** Every header that a response can have, besides those that describe its content. */
export type ReplyHeader =
  | 'Access-Control-Expose-Headers'
  | 'Allow'
  | 'Cache-Control'
  | 'ETag'
  | 'Link'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'X-Content-Type-Options'
  | 'X-Total-Count'

/** The headers of every counted list. */
export const countedHeaders: readonly ReplyHeader[] = ['X-Total-Count', 'Access-Control-Expose-Headers']

/**
 * The headers of a list: the total number of items, links to its other pages, and permission for scripts of other
 * origins to read both.
 */
export function counted(total: number, link?: string | undefined): readonly HeaderLine[] {
  const count: HeaderLine = ['X-Total-Count', String(total)]
  if (link === undefined) return [count, ['Access-Control-Expose-Headers', 'X-Total-Count']]

  return [['Link', link], count, ['Access-Control-Expose-Headers', 'Link, X-Total-Count']]
}
