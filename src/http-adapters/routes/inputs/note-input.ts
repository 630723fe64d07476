import type { Input } from '../route.ts'

/** Why an account is blocked, from the query; its length is the core's to check. */
export const noteInQuery: Input<string | undefined> = {
  parameters: [{ name: 'note', in: 'query', type: 'string', description: 'why the user is blocked' }],
  errors: ['INVALID_INPUT'],
  read: ({ request }) => new URLSearchParams(request.query).get('note') ?? undefined,
}
