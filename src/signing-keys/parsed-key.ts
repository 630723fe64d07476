import type { SigningKeySource } from '../core/ports.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { keyMaterial, unreadableKey } from './key-text.ts'
import { publishOpenpgp } from './openpgp.ts'
import type { PublishedText } from './published-key.ts'
import { toPublicKey } from './published-key.ts'
import type { ReadBeside } from './ssh.ts'
import { publishSsh } from './ssh.ts'

/** A key that is parsed once, when it is first requested. Afterwards it answers synchronously. */
class ParsedKey implements SigningKeySource {
  readonly format: SigningKeyFormat
  readonly #parse: () => Promise<PublishedText>
  #answer: MaybePromise<PublicKey> | undefined

  constructor(format: SigningKeyFormat, parse: () => Promise<PublishedText>) {
    this.format = format
    this.#parse = parse
  }

  /** @throws ForgeError `SIGNING_KEY_UNREADABLE`, on every call, without parsing the key again */
  publicKey(): MaybePromise<PublicKey> {
    this.#answer ??= this.#read()
    return this.#answer
  }

  async #read(): Promise<PublicKey> {
    const key = toPublicKey(this.format, await this.#parse())
    this.#answer = key
    return key
  }
}

/**
 * Returns the key in the content of a file; the content determines its format.
 *
 * @param readBeside - reads the public file beside a private key that hides its public half
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` unless there is exactly one key
 */
export function keyIn(content: string | Uint8Array, readBeside: ReadBeside = async () => undefined): SigningKeySource {
  const key = keyMaterial(content)
  return key.form === 'openpgp'
    ? new ParsedKey('openpgp', () => publishOpenpgp(key.key))
    : new ParsedKey('ssh', () => publishSsh(key, readBeside))
}

function keyOf(format: SigningKeyFormat, content: string | Uint8Array): SigningKeySource {
  return new ParsedKey(format, async () => {
    const key = keyIn(content)
    if (key.format !== format) throw unreadableKey(`it is an ${key.format} key, not an ${format} key`)
    return key.publicKey()
  })
}

/**
 * Creates a signing key source from an OpenPGP key, public or private, armored or binary. A private key's passphrase is
 * not needed. The key is parsed when it is first requested. A key that cannot be parsed is `SIGNING_KEY_UNREADABLE` at
 * that time. Only the public half is ever published, armored again.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param key - the key itself, at most 128 KiB; bytes are copied; for a file use `openKeyFile`
 * @throws TypeError when the key is neither a text nor bytes
 */
export function openpgpKey(key: string | Uint8Array): SigningKeySource {
  if (typeof key !== 'string' && !(key instanceof Uint8Array)) {
    throw new TypeError('openpgpKey takes the key as a string or as bytes; for a file use openKeyFile')
  }
  return keyOf('openpgp', typeof key === 'string' ? key : Uint8Array.from(key))
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
  return keyOf('ssh', key)
}
