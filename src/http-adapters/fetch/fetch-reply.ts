import type { NeutralReply } from '../routes/neutral.ts'

/**
 * A reply as a Fetch response.
 *
 * @throws TypeError for a header that HTTP does not allow
 */
export function toResponse({ status, headers, body }: NeutralReply): Response {
  return new Response(body ?? null, { status, headers: Object.fromEntries(headers) })
}
