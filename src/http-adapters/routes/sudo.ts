import { wireError } from './error-status.ts'
import type { ApiRequest } from './messages.ts'

/**
 * Refuses a request that Gitea would answer for another user. Ignored, it would be made by the site admin who sent it.
 * Source: docs/behaviour.md, Over HTTP
 *
 * @throws WireError `SUDO_UNSUPPORTED`
 */
export function refuseSudo(request: ApiRequest): void {
  const { query } = request
  const name = request.header('sudo') || (query !== '' && new URLSearchParams(query).get('sudo'))
  const message = 'the Sudo header and the sudo parameter are not supported: send a token of that user instead'
  if (name) throw wireError('SUDO_UNSUPPORTED', message)
}
