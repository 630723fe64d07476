import type { SigningKeySource } from '../core/ports.ts'
import { isObject, need } from '../schema/arguments.ts'
import { otherFormat } from '../schema/errors.ts'
import { isBytes } from '../schema/realms.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { keyMaterial, unreadableKey } from './key-text.ts'
import type { KeyDescription } from './published-key.ts'
import { isSource } from './rotating-key.ts'

/**
 * Parses the key in the content of a file; the content determines its format.
 *
 * @param beside - the content of the public file beside a private key, if there is one
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` unless there is exactly one key
 */
export async function parseKey(content: string | Uint8Array, beside?: Uint8Array): Promise<PublicKey> {
  const key = keyMaterial(content)
  // Only hosts with a key of a format load what reads it.
  if (key.form === 'openpgp') return (await import('./openpgp.ts')).publish(key.key)
  return (await import('./ssh.ts')).publish(key, beside)
}

/** A key that is parsed once, also if that fails. Afterwards it answers synchronously. */
function parsedOnce(format: SigningKeyFormat, content: string | Uint8Array): SigningKeySource {
  let answer: MaybePromise<PublicKey> | undefined
  const parse = async () => {
    const key = await parseKey(content)
    if (key.format !== format) throw unreadableKey(`it is an ${key.format} key, not an ${format} key`)
    answer = key
    return key
  }
  return {
    format,
    publicKey() {
      answer ??= parse()
      return answer
    },
  }
}

/**
 * Creates a signing key source from an OpenPGP key, public or private, armored or binary. A private key's passphrase is
 * not needed. The key is parsed when it is first requested. A key that cannot be parsed is `SIGNING_KEY_UNREADABLE` at
 * that time. Only the public half is ever published, armored again: what `gpg --import` keeps of it.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param key - the key itself, at most 128 KiB; bytes are copied; for a file use `openKeyFile`
 * @throws TypeError when the key is neither a text nor bytes
 */
export function openpgpKey(key: string | Uint8Array): SigningKeySource {
  if (typeof key !== 'string' && !isBytes(key)) {
    throw new TypeError('openpgpKey takes the key as a string or as bytes; for a file use openKeyFile')
  }
  return parsedOnce('openpgp', typeof key === 'string' ? key : Uint8Array.from(key))
}

/**
 * Creates a signing key source from an SSH key: a public line (with or without git's prefix `key::`, which is removed),
 * an OpenSSH private key with or without a passphrase, or PEM. The key is parsed when it is first requested. A key that
 * cannot be parsed is `SIGNING_KEY_UNREADABLE` at that time. Only the public line is ever published.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param key - the key itself, at most 64 KiB; for a file use `openKeyFile`
 * @throws TypeError when the key is not a text
 */
export function sshKey(key: string): SigningKeySource {
  if (typeof key !== 'string') throw new TypeError('sshKey takes the key as a string; for a file use openKeyFile')
  return parsedOnce('ssh', key)
}

/**
 * Describes a signing key, for an operator who wants to see which key it is. Of keys in rotation, it describes the current
 * one; of a text with several keys, the first.
 *
 * @param key - a source, or what its `publicKey` returned
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function describeKey(key: SigningKeySource | PublicKey): Promise<KeyDescription> {
  const source = isObject(key) && 'current' in key && isSource(key.current) ? key.current : key
  const { format, text } = await published(source, 'describeKey')
  const { describe } = await (format === 'ssh' ? import('./ssh.ts') : import('./openpgp.ts'))
  return describe(text)
}

/**
 * Returns the lines for the file that `gpg.ssh.allowedSignersFile` of git names, one for each key: with it, git verifies
 * what the instance signed. A certificate is named by its authority, so that the line is right for the next certificate, too.
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
  const { signerOf } = await import('./ssh.ts')
  const signers = await Promise.all((text.match(/^\S.*$/gm) ?? []).map(signerOf))
  return signers.map((signer) => `${principals.join(',')} ${signer}\n`).join('')
}

function isPrincipal(principal: unknown): boolean {
  return typeof principal === 'string' && /^[^\s\p{Cc},"#][^\s\p{Cc},"]*$/u.test(principal)
}

async function published(key: SigningKeySource | PublicKey, caller: string): Promise<PublicKey> {
  need(isObject(key) && 'format' in key, caller, 'key', 'a signing key source, or what its publicKey() returned')
  return 'publicKey' in key ? key.publicKey() : key
}
