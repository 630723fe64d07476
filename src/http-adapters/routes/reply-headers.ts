import type { JsonSchema } from './json-schema.ts'
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

/** The description of a header. */
export interface HeaderFacts {
  readonly description: string
  /** Whether every response that can have this header has it. */
  readonly required: boolean
  readonly schema: JsonSchema
}

/** Descriptions of the response headers, for API documents. Source: docs/behaviour.md, Over HTTP */
export const replyHeaders: { readonly [H in ReplyHeader]: HeaderFacts } = {
  'Access-Control-Expose-Headers': {
    description: 'which headers scripts of other origins may read',
    required: true,
    schema: { type: 'string', enum: ['X-Total-Count', 'Link, X-Total-Count'] },
  },
  Allow: {
    description: 'the methods that the path has',
    required: true,
    schema: { type: 'string', examples: ['GET, HEAD, OPTIONS'] },
  },
  'Cache-Control': {
    description: 'clients revalidate before they use a cached response',
    required: true,
    schema: { type: 'string', enum: ['max-age=0, private, must-revalidate'] },
  },
  ETag: {
    description: 'identifies this version of the text, for `If-None-Match`',
    required: true,
    schema: { type: 'string', minLength: 2 },
  },
  Link: {
    description: 'the next, last, first and previous page, if they exist (RFC 8288); absent if there is one page',
    required: false,
    schema: { type: 'string', minLength: 1 },
  },
  'Retry-After': {
    description: 'seconds to wait before a retry',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: '`Bearer`, with `error="invalid_token"` if the credential is invalid',
    required: true,
    schema: { type: 'string', enum: ['Bearer', 'Bearer error="invalid_token"'] },
  },
  'X-Content-Type-Options': {
    description: 'browsers do not guess another content type',
    required: true,
    schema: { type: 'string', enum: ['nosniff'] },
  },
  'X-Total-Count': {
    description: 'number of items in the whole list',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
}

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
