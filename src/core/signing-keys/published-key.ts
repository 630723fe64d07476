import { isObject, need } from '../../schema/arguments.ts'
import { ForgeError } from '../../schema/errors.ts'
import type { SigningKeyFormat } from '../../schema/records.ts'

/**
 * Checks that there is a key and that it has the format asked for, without touching the key.
 *
 * @param published - the instance's key, if it has one
 * @throws ForgeError `NO_SIGNING_KEY`, `SIGNING_KEY_FORMAT_MISMATCH`. Source: docs/behaviour.md, Signing keys
 */
export function publishedKey<K extends { readonly format: SigningKeyFormat }>(
  published: K | undefined,
  asked: SigningKeyFormat,
): K {
  need(
    published === undefined || isObject(published),
    'publishedKey',
    'published',
    'an object with format, or undefined',
  )
  need(asked === 'openpgp' || asked === 'ssh', 'publishedKey', 'asked', "'openpgp' or 'ssh'")
  if (published === undefined) throw new ForgeError('NO_SIGNING_KEY', 'no signing key')

  const { format } = published
  if (format === asked) return published
  throw new ForgeError('SIGNING_KEY_FORMAT_MISMATCH', `signing key format is ${format}`, { format })
}
