import { createHash } from 'node:crypto'
import type { CallOptions, SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise, Steps } from '../schema/steps.ts'
import { run, wait } from '../schema/steps.ts'
import type { FileState, KeyFile } from './key-file.ts'
import { keyFormat } from './key-format.ts'
import { materialFromBytes } from './key-material.ts'
import { openpgpPublicText } from './openpgp-public-text.ts'
import { ParsedKey } from './parsed-key.ts'
import { sshPublicLine } from './ssh-public-line.ts'

/** Coarsest time stamps of a file system in use (FAT), in milliseconds: two changes within it can look like one. */
const COARSEST_STAMP = 2000

interface Seen {
  readonly stamp: string
  /** SHA-256 of the content. */
  readonly digest: string
  /** Whether the stamp alone tells the next change from this one. */
  readonly isSettled: boolean
  readonly key: SigningKeySource
}

/**
 * A key in a file that may change. Every question looks at the file's state first (one `stat`, two microseconds, no
 * reading); only a changed file is read, and only a changed content is parsed, once, when the key is asked for.
 */
export class FileKey implements SigningKeySource {
  readonly #file: KeyFile
  readonly #now: () => number
  #seen: Seen

  /**
   * @param file - the file
   * @param now - milliseconds since 1970, to compare with the file's times of change
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the file cannot be read or is no key
   */
  constructor(file: KeyFile, now: () => number = Date.now) {
    this.#file = file
    this.#now = now
    const content = file.read()
    this.#seen = this.#see(content, digestOf(content.bytes), sourceOf(content.bytes))
  }

  /** Follows the file; while it cannot be read, what it was last. */
  get format(): SigningKeyFormat {
    try {
      this.#look()
    } catch {
      // whoever asks for the key is told
    }
    return this.#seen.key.format
  }

  /**
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` as long as the file cannot be read or is no key; the message names no path,
   * its cause does
   */
  publicKey(options?: CallOptions): MaybePromise<PublicKey> {
    return run(this.#answer(options))
  }

  *#answer(options: CallOptions | undefined): Steps<PublicKey> {
    options?.signal?.throwIfAborted()
    try {
      this.#look()
      return yield* wait(this.#seen.key.publicKey(options))
    } catch (error) {
      throw isForgeError(error, 'SIGNING_KEY_UNREADABLE') ? namingPath(error, this.#file.path) : error
    }
  }

  #look(): void {
    const { stamp } = this.#file.state()
    if (this.#seen.isSettled && stamp === this.#seen.stamp) return

    const content = this.#file.read()
    const digest = digestOf(content.bytes)
    const { key } = this.#seen
    this.#seen = this.#see(content, digest, digest === this.#seen.digest ? key : sourceOr(key.format, content.bytes))
  }

  #see({ stamp, changedAt }: FileState, digest: string, key: SigningKeySource): Seen {
    return { stamp, digest, isSettled: this.#now() - changedAt > COARSEST_STAMP, key }
  }
}

function sourceOf(bytes: Uint8Array): SigningKeySource {
  const material = materialFromBytes(bytes)
  const format = keyFormat(material)
  return new ParsedKey(format, () =>
    material.kind === 'text' && format === 'ssh' ? sshPublicLine(material.text) : openpgpPublicText(material),
  )
}

/** Content that is no key is a key too, one that cannot be read: so it is looked through once, not on every request. */
function sourceOr(format: SigningKeyFormat, bytes: Uint8Array): SigningKeySource {
  try {
    return sourceOf(bytes)
  } catch (error) {
    return {
      format,
      publicKey: () => {
        throw error
      },
    }
  }
}

function namingPath(error: Error, path: string): ForgeError<'SIGNING_KEY_UNREADABLE'> {
  const cause = new Error(`the key file is ${path}`, 'cause' in error ? { cause: error.cause } : {})
  return new ForgeError('SIGNING_KEY_UNREADABLE', error.message, undefined, { cause })
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}
