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
