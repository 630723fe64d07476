import type { MaybePromise } from '../index.ts'
import { ForgeError } from '../index.ts'
import { tokenDigest } from './host-names.ts'
import type { StandaloneUser } from './host-ports.ts'
import { whenReady } from './host-ports.ts'
import type { HostStore } from './host-store/host-store.ts'

/**
 * Returns the user that an `Authorization` header identifies, or null for an anonymous request.
 * @throws ForgeError `INVALID_CREDENTIALS` if the token is invalid
 */
export function authenticate(store: HostStore, header: string | undefined): MaybePromise<StandaloneUser | null> {
  const token = parseCredentials(header)
  if (token === undefined) return null

  return whenReady(store.findUserByToken(tokenDigest(token)), (user) => {
    if (user === undefined) throw new ForgeError('INVALID_CREDENTIALS', 'invalid username, password or token')
    return user
  })
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * Parses an `Authorization` header: `token X`, `Bearer X`, or Basic with the token as user name or password. The scheme
 * is case-insensitive. Returns undefined for any other header: such a request is anonymous, as in Gitea.
 */
export function parseCredentials(header: string | undefined): string | undefined {
  const fields = (header ?? '').trim().split(/\s+/)
  const [scheme = '', value = ''] = fields
  if (fields.length !== 2) return undefined

  switch (scheme.toLowerCase()) {
    case 'token':
    case 'bearer':
      return value
    case 'basic':
      return tokenOfBasic(value)
    default:
      return undefined
  }
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
