import { createHash } from 'node:crypto'

/** Converts a name to the form in which names are compared. Names that differ only in case are equal. */
export function normalizeName(name: string): string {
  return name.toLowerCase()
}

/**
 * Returns the stored form of an access token: its SHA-256 in hexadecimal. Tokens are long and random, so a lookup needs
 * no salt.
 */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}
