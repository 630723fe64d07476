import type { SigningKeyContext, SigningKeySource } from '../core/ports.ts'
import { isObject } from '../schema/arguments.ts'
import { otherFormat } from '../schema/errors.ts'
import { checkOptions } from '../schema/options.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { SyncOrAsync } from '../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../schema/sync-or-async.ts'
import type { Validity } from './published-key.ts'
import { toPublicKey } from './published-key.ts'

/**
 * Creates a signing key source of the current key, which signs, and of former keys, which still verify what they signed. Each
 * may have either format, and each route serves those of its own: `/signing-key.gpg` one armored block, `/signing-key.pub` a
 * line for each key, the current key first. But OpenPGP keys of version 4 are before others, because GnuPG reads only these
 * and stops at others. If a former key cannot be read, the others are served, and the forge's logger
 * reports it once. If the current key cannot be read, its format is `SIGNING_KEY_UNREADABLE`.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @throws TypeError when a source is missing, or is not a source
 */
export function rotatingKey(keys: {
  readonly current: SigningKeySource
  readonly former: readonly SigningKeySource[]
}): SigningKeySource {
  checkOptions<typeof keys>('rotatingKey', keys, {
    current: [isSource, 'a signing key source such as await openKeyFile(path)'],
    former: [(value) => Array.isArray(value) && value.every(isSource), 'a list of signing key sources'],
  })
  const { current, former } = keys
  const sources = [current, ...former]
  const unreadable = new Set<SigningKeySource>()
  const joined = new Map<SigningKeyFormat, { readonly of: string; readonly key: PublicKey }>()

  function* select(context: SigningKeyContext): SyncOrAsync<PublicKey> {
    const { format = current.format, logger } = context
    const found: PublicKey[] = []
    let validity: Validity = {} // that a former key expires, or is revoked, is nothing to warn of
    for (const source of sources) {
      if (source.format !== format && source.servesBoth !== true) continue
      try {
        const key = yield* wait(source.publicKey(context))
        if (key.format !== format) continue
        found.push(key)
        if (source === current) validity = key
      } catch (error) {
        if (source === current) throw error
        if (logger === undefined || unreadable.has(source)) continue
        logger.error('a former signing key cannot be read; the others are served', { error })
        unreadable.add(source)
      }
    }
    if (found.length === 0) throw otherFormat(current.format)
    return yield* join(format, found, validity)
  }

  /** Joins keys once, until one of them changes. */
  function* join(format: SigningKeyFormat, all: readonly PublicKey[], validity: Validity): SyncOrAsync<PublicKey> {
    const of = all.map(({ etag }) => etag).join()
    const known = joined.get(format)
    if (known?.of === of) return known.key

    const texts = [...new Set(all.map(({ text }) => text))]
    const isArmor = format === 'openpgp' && texts.length > 1
    const joining = isArmor ? import('./openpgp.ts').then(({ joinArmors }) => joinArmors(texts)) : texts.join('')
    const key = toPublicKey(format, yield* wait(joining), validity)
    joined.set(format, { of, key })
    return key
  }

  const source: SigningKeySource & { readonly current: SigningKeySource } = {
    current,
    servesBoth: true,
    get format() {
      return current.format
    },
    publicKey: (context = { format: current.format }) => runMaybeAsync(select(context)),
  }
  return source
}

export function isSource(value: unknown): value is SigningKeySource {
  return isObject(value) && 'format' in value && 'publicKey' in value && typeof value.publicKey === 'function'
}
