import { invalidInput } from '../../../schema/errors.ts'
import { parseInteger } from '../integer-text.ts'
import type { Input } from '../route.ts'
import type { Settings } from '../settings.ts'

/** Why an account is blocked, from the query; its length is the core's to check. */
export const noteInQuery: Input<string | undefined> = {
  parameters: [
    { name: 'note', in: 'query', schema: { type: 'string', maxLength: 255 }, description: 'why the user is blocked' },
  ],
  errors: ['INVALID_INPUT'],
  read: ({ request }) => readNote(request.query),
}

/** Strict, unlike `URLSearchParams`, which puts U+FFFD for broken bytes: what is kept is what was sent. */
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

/** A page by its number. */
export interface NumberedPage {
  /** 1-based. */
  readonly page: number
  readonly limit: number
}

/** Which page of a list, from the query; never an error. Source: docs/behaviour.md, Blocks */
export const pageInQuery: Input<NumberedPage> = {
  parameters: [
    {
      name: 'page',
      in: 'query',
      schema: { type: 'integer', format: 'int64', minimum: 1, default: 1 },
      description: 'page number; what is no number counts as 1',
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
      description: 'items on a page; more than the most counts as the most',
    },
  ],
  errors: [],
  read: ({ request, settings }) => toPage(request.query, settings.limits),
}

function toPage(query: string, limits: Settings<never>['limits']): NumberedPage {
  const parameters = new URLSearchParams(query)
  const limit = Math.min(positive(parameters.get('limit')) ?? limits.defaultPageSize, limits.maxPageSize)
  const mostPages = Math.floor(Number.MAX_SAFE_INTEGER / limit) // so that no storage counts rows beyond exact numbers

  return { page: Math.min(positive(parameters.get('page')) ?? 1, mostPages), limit }
}

function positive(text: string | null): number | undefined {
  const value = parseInteger(text ?? '')
  return value === 0 ? undefined : value
}
