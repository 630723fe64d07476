import { invalidInput } from '../../../schema/errors.ts'
import { parseInteger } from '../integer-text.ts'
import type { Settings } from '../request-context.ts'
import type { Input } from '../route.ts'

/** The note in the query: why the account is blocked. The core checks its length. */
export const noteInQuery: Input<string | undefined> = {
  parameters: [
    { name: 'note', in: 'query', schema: { type: 'string', maxLength: 255 }, description: 'why the user is blocked' },
  ],
  errors: ['INVALID_INPUT'],
  read: ({ request }) => readNote(request.query),
}

/**
 * Decodes strictly, so that the stored note is what was sent. `URLSearchParams` would replace invalid bytes with
 * U+FFFD.
 */
function readNote(query: string): string | undefined {
  const pair = query.split('&').find((one) => new URLSearchParams(`&${one}`).has('note')) // as it would find the first
  if (pair === undefined) return undefined

  const [, ...value] = pair.split('=')
  try {
    return decodeURIComponent(value.join('=').replaceAll('+', ' '))
  } catch {
    throw invalidInput('/note', 'text', 'note must be percent-encoded UTF-8')
  }
}

/** A page, identified by its number. */
export interface NumberedPage {
  /** 1-based. */
  readonly page: number
  readonly limit: number
}

/** The page number and size in the query. This input never fails. Source: docs/behaviour.md, Blocks */
export const pageInQuery: Input<NumberedPage> = {
  parameters: [
    {
      name: 'page',
      in: 'query',
      schema: { type: 'integer', format: 'int64', minimum: 1, default: 1 },
      description: 'page number; an invalid number counts as 1',
    },
    {
      name: 'limit',
      in: 'query',
      schema: (limits) => ({
        type: 'integer',
        minimum: 1,
        maximum: limits.maxPageSize,
        default: limits.defaultPageSize,
      }),
      description: 'items per page; a larger number counts as the maximum',
    },
  ],
  errors: [],
  read: ({ request, settings }) => toPage(request.query, settings.limits),
}

function toPage(query: string, limits: Settings<never>['limits']): NumberedPage {
  const parameters = new URLSearchParams(query)
  const limit = Math.min(positive(parameters.get('limit')) ?? limits.defaultPageSize, limits.maxPageSize)
  const mostPages = Math.floor(Number.MAX_SAFE_INTEGER / limit) // keeps row offsets within safe integers

  return { page: Math.min(positive(parameters.get('page')) ?? 1, mostPages), limit }
}

function positive(text: string | null): number | undefined {
  const value = parseInteger(text ?? '')
  return value === 0 ? undefined : value
}
