import { invalidInput } from '../../../schema/errors.ts'
import type { Input } from '../route.ts'

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
