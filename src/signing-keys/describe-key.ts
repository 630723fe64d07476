import type { SigningKeySource } from '../core/ports.ts'
import { isObject, need } from '../schema/arguments.ts'
import type { PublicKey } from '../schema/records.ts'
import type { KeyDescription } from './published-key.ts'
import { otherFormat } from './published-key.ts'

/**
 * Describes a signing key, for an operator who wants to see which key it is. Of keys in rotation, it describes the current
 * one.
 *
 * @param key - a source, or what its `publicKey` returned
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function describeKey(key: SigningKeySource | PublicKey): Promise<KeyDescription> {
  const { format, text } = await published(key, 'describeKey')
  const { describe } = await (format === 'ssh' ? import('./ssh.ts') : import('./openpgp.ts'))
  return describe(text)
}

/**
 * Returns the lines for the file that `gpg.ssh.allowedSignersFile` of git names, one for each key: with it, git verifies
 * what the instance signed.
 *
 * @param key - a source of SSH keys, or what its `publicKey` returned
 * @param principals - who signs with the key: e-mail addresses, which may have the wildcards `*` and `?`
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`; `SIGNING_KEY_FORMAT_MISMATCH` for an OpenPGP key
 * @throws TypeError when no principal is given, or one has blanks, commas, quotes or control characters
 */
export async function allowedSigners(
  key: SigningKeySource | PublicKey,
  principals: readonly string[],
): Promise<string> {
  const areValid = Array.isArray(principals) && principals.length > 0 && principals.every(isPrincipal)
  need(areValid, 'allowedSigners', 'principals', "a list of e-mail addresses such as ['forge@example.com']")
  const { format, text } = await published(key, 'allowedSigners')
  if (format !== 'ssh') throw otherFormat(format)
  return text.replaceAll(/^(?=\S)/gm, `${principals.join(',')} namespaces="git" `)
}

function isPrincipal(principal: unknown): boolean {
  return typeof principal === 'string' && /^[^\s\p{Cc},"#][^\s\p{Cc},"]*$/u.test(principal)
}

async function published(key: SigningKeySource | PublicKey, caller: string): Promise<PublicKey> {
  need(isObject(key) && 'format' in key, caller, 'key', 'a signing key source, or what its publicKey() returned')
  return 'publicKey' in key ? key.publicKey() : key
}
