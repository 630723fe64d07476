import type { Logger, SigningKeyContext, SigningKeySource } from '../core/ports.ts'
import { isObject, need } from '../schema/arguments.ts'
import { refuseUnknown } from '../schema/options.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { after, runMaybeAsync, wait } from '../schema/sync-or-async.ts'
import { joinArmors } from './openpgp.ts'
import { toPublicKey } from './published-key.ts'

/** The current key, and former ones that verify what they signed. */
class RotatingKey implements SigningKeySource {
  readonly #current: SigningKeySource
  readonly #former: readonly SigningKeySource[]
  readonly #unreadable = new Set<SigningKeySource>()
  readonly #joined = new Map<SigningKeyFormat, PublicKey & { readonly of: string }>()

  constructor(current: SigningKeySource, former: readonly SigningKeySource[]) {
    this.#current = current
    this.#former = former
  }

  get format(): SigningKeyFormat {
    return this.#current.format
  }

  publicKey(context: SigningKeyContext = {}): MaybePromise<PublicKey> {
    return after(this.select(this.format, context), (source) => source.publicKey(context))
  }

  select(format: SigningKeyFormat, context: SigningKeyContext): MaybePromise<SigningKeySource> {
    return runMaybeAsync(this.#select(format, context))
  }

  *#select(format: SigningKeyFormat, context: SigningKeyContext): SyncOrAsync<SigningKeySource> {
    const current = yield* selected(this.#current, format, context)
    const former: PublicKey[] = []
    for (const source of this.#former) {
      const key = yield* this.#formerKey(source, format, context)
      if (key !== undefined) former.push(key)
    }
    if (current.format !== format && former.length === 0) return current

    return {
      format,
      publicKey: (options) => {
        if (current.format !== format) return this.#join(format, former, undefined)
        return after(current.publicKey(options), (key) => this.#join(format, [key, ...former], key.expiresAt))
      },
    }
  }

  /** The key of a former source, if it has this format and can be read. */
  *#formerKey(
    source: SigningKeySource,
    format: SigningKeyFormat,
    context: SigningKeyContext,
  ): SyncOrAsync<PublicKey | undefined> {
    try {
      const chosen = yield* selected(source, format, context)
      if (chosen.format !== format) return undefined
      const key = yield* wait(chosen.publicKey(context))
      this.#unreadable.delete(source)
      return key
    } catch (error) {
      this.#report(source, error, context.logger)
      return undefined
    }
  }

  /** Logs that a former key cannot be read, until it could be read again. */
  #report(source: SigningKeySource, error: unknown, logger: Logger | undefined): void {
    if (logger === undefined || this.#unreadable.has(source)) return
    this.#unreadable.add(source)
    logger.error('a former signing key cannot be read; the others are served', { error })
  }

  /** Joins keys once, until one of them changes. That a former key expires is nothing to warn of. */
  #join(format: SigningKeyFormat, keys: readonly PublicKey[], expiresAt: Date | undefined): MaybePromise<PublicKey> {
    const of = keys.map(({ etag }) => etag).join()
    const known = this.#joined.get(format)
    if (known?.of === of) return known

    const texts = [...new Set(keys.map(({ text }) => text))]
    return after(format === 'ssh' ? texts.join('') : joinArmors(texts), (text) => {
      const key = { ...toPublicKey(format, { text, expiresAt }), of }
      this.#joined.set(format, key)
      return key
    })
  }
}

function selected(
  source: SigningKeySource,
  format: SigningKeyFormat,
  context: SigningKeyContext,
): SyncOrAsync<SigningKeySource> {
  return wait(source.select?.(format, context) ?? source)
}

/**
 * Creates a signing key source of which the current key signs, and former keys still verify what they signed. Each may
 * have either format, and each route serves those of its own: `/signing-key.gpg` one armored block, `/signing-key.pub` a
 * line for each key, the current key first. If a former key cannot be read, the others are served, and the forge's logger
 * reports it once. If the current key cannot be read, its format is `SIGNING_KEY_UNREADABLE`.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @throws TypeError when a source is missing, or is not a source
 */
export function rotatingKey(keys: {
  readonly current: SigningKeySource
  readonly former: readonly SigningKeySource[]
}): SigningKeySource {
  need(isObject(keys), 'rotatingKey', 'keys', 'an object with current and former')
  refuseUnknown('rotatingKey', keys, { current: true, former: true })
  const { current, former } = keys
  need(isSource(current), 'rotatingKey', 'current', 'a signing key source such as await openKeyFile(path)')
  need(Array.isArray(former) && former.every(isSource), 'rotatingKey', 'former', 'a list of signing key sources')
  return new RotatingKey(current, [...former])
}

function isSource(value: unknown): boolean {
  return isObject(value) && 'format' in value && 'publicKey' in value && typeof value.publicKey === 'function'
}
