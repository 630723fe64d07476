import type { SigningKeySource } from '../index.ts'
import type { Fixture } from './fixture.ts'

/**
 * The signing key that a fixture names, if it names one; what reads keys is loaded only then.
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function fixtureKey(fixture: Fixture | undefined): Promise<SigningKeySource | undefined> {
  const file = fixture?.signingKey?.file
  if (file === undefined) return undefined

  const { openKeyFile } = await import('../signing-keys/signing-keys.ts')
  return openKeyFile(file)
}
