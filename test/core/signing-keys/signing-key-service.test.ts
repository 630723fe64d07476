import { describe, expect, test } from 'vitest'
import { aForge, codeOf, olga } from '../a-forge.ts'

const key = { format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: '"1"' } as const

describe('the signing-key service', () => {
  test('names the format there is, without touching the key', async () => {
    const forge = aForge({
      signingKey: {
        format: 'ssh',
        publicKey() {
          throw new Error('touched')
        },
      },
    })
    await expect(forge.signingKeys.publicKey(olga, { format: 'openpgp' })).rejects.toThrow('signing key format is ssh')
  })

  test('does not serve a key whose format has changed since', async () => {
    const forge = aForge({ signingKey: { format: 'openpgp', publicKey: () => key } })
    expect(await codeOf(() => forge.signingKeys.publicKey(olga, { format: 'openpgp' }))).toBe(
      'SIGNING_KEY_FORMAT_MISMATCH',
    )
  })
})
