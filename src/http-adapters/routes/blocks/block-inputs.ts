import { invalidInput } from '../../../schema/errors.ts'
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
