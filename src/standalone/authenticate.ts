import type { MaybePromise } from '../index.ts'
import { ForgeError } from '../index.ts'
import { parseCredentials } from './credentials.ts'
import type { StandaloneUser } from './host-ports.ts'
import type { HostStore } from './host-store/host-store.ts'
import { tokenDigest } from './token-digest.ts'
import { whenReady } from './when-ready.ts'

/**
 * Who sends an `Authorization` header; null for nobody.
 * @throws ForgeError `INVALID_CREDENTIALS` for a token that is none
 */
export function authenticate(store: HostStore, header: string | undefined): MaybePromise<StandaloneUser | null> {
  const token = parseCredentials(header)
  if (token === undefined) return null

  return whenReady(store.findUserByToken(tokenDigest(token)), (user) => {
    if (user === undefined) throw new ForgeError('INVALID_CREDENTIALS', 'invalid username, password or token')
    return user
  })
}
