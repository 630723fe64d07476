import type { HeaderLine } from '../neutral.ts'
import type { ReplyHeader } from '../reply-headers.ts'

/** The headers that every counted list has. */
export const countedHeaders: readonly ReplyHeader[] = ['X-Total-Count', 'Access-Control-Expose-Headers']

/** The headers of a list: how many there are, the links to its other pages, and leave for scripts of other origins to read both. */
export function counted(total: number, link?: string | undefined): readonly HeaderLine[] {
  const count: HeaderLine = ['X-Total-Count', String(total)]
  if (link === undefined) return [count, ['Access-Control-Expose-Headers', 'X-Total-Count']]

  return [['Link', link], count, ['Access-Control-Expose-Headers', 'Link, X-Total-Count']]
}
