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

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * Parses an `Authorization` header: `token X`, `Bearer X`, or Basic with the token as user name or password. The scheme
 * is case-insensitive. Returns undefined for any other header: such a request is anonymous, as in Gitea.
 */
export function parseCredentials(header: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+)\s+(\S+)$/.exec((header ?? '').trim()) ?? []
  if (/^(?:token|bearer)$/i.test(scheme)) return value
  return /^basic$/i.test(scheme) ? tokenOfBasic(value) : undefined
}

/** If the password is empty, or is the placeholder that means no password, the user name is the token. */
function tokenOfBasic(value: string): string | undefined {
  if (!BASE64.test(value)) return undefined

  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return undefined

  const password = text.slice(colon + 1)
  return password === '' || password === 'x-oauth-basic' ? text.slice(0, colon) : password
}
