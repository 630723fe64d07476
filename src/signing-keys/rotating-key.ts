import type { SigningKeyContext, SigningKeySource } from '../core/ports.ts'
import { isObject, need } from '../schema/arguments.ts'
import { refuseUnknown } from '../schema/options.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { after, runMaybeAsync, wait } from '../schema/sync-or-async.ts'
import { joinArmors } from './openpgp.ts'
import { toPublicKey } from './published-key.ts'

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
  const sources = [...former]
  const unreadable = new Set<SigningKeySource>()
  const joined = new Map<SigningKeyFormat, { readonly of: string; readonly key: PublicKey }>()

  /** Joins keys once, until one of them changes. That a former key expires is nothing to warn of. */
  function join(format: SigningKeyFormat, all: readonly PublicKey[], expiresAt?: Date): MaybePromise<PublicKey> {
    const of = all.map(({ etag }) => etag).join()
    const known = joined.get(format)
    if (known?.of === of) return known.key

    const texts = [...new Set(all.map(({ text }) => text))]
    return after(format === 'ssh' ? texts.join('') : joinArmors(texts), (text) => {
      const key = toPublicKey(format, text, expiresAt)
      joined.set(format, { of, key })
      return key
    })
  }

  function* select(format: SigningKeyFormat, context: SigningKeyContext): SyncOrAsync<SigningKeySource> {
    const chosen = yield* wait(current.select?.(format, context) ?? current)
    const others: PublicKey[] = []
    for (const source of sources) {
      try {
        const other = yield* wait(source.select?.(format, context) ?? source)
        if (other.format === format) others.push(yield* wait(other.publicKey(context)))
      } catch (error) {
        if (context.logger === undefined || unreadable.has(source)) continue
        context.logger.error('a former signing key cannot be read; the others are served', { error })
        unreadable.add(source)
      }
    }
    if (others.length === 0) return chosen
    if (chosen.format !== format) return { format, publicKey: () => join(format, others) }
    return {
      format,
      publicKey: (options) => after(chosen.publicKey(options), (key) => join(format, [key, ...others], key.expiresAt)),
    }
  }

  const source = {
    get format() {
      return current.format
    },
    select: (format: SigningKeyFormat, context: SigningKeyContext) => runMaybeAsync(select(format, context)),
    publicKey: (context: SigningKeyContext = {}) =>
      after(source.select(current.format, context), (chosen) => chosen.publicKey(context)),
  }
  return source
}

function isSource(value: unknown): boolean {
  return isObject(value) && 'format' in value && 'publicKey' in value && typeof value.publicKey === 'function'
}
