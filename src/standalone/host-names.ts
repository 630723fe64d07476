import { createHash } from 'node:crypto'

/** The form in which names are compared: names that differ only in case are one name. */
export function normalizeName(name: string): string {
  return name.toLowerCase()
}

/** What is kept of an access token: its SHA-256 in hexadecimal. Tokens are long and random, so no salt is needed to look one up. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}
