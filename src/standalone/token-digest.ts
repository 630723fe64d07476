import { createHash } from 'node:crypto'

/** What is kept of an access token: its SHA-256 in hexadecimal. Tokens are long and random, so no salt is needed to look one up. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}
