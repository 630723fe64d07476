import { needObject } from '../../schema/arguments.ts'
import { ForgeError, otherFormat } from '../../schema/errors.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { PublicKey, SigningKeyFormat } from '../../schema/records.ts'
import type { MaybeAsync, Scope } from '../call.ts'
import { portAnswer } from '../call.ts'
import { method } from '../method.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'

/** The instance's public signing key. Source: docs/behaviour.md, Signing keys. */
export interface SigningKeyService<A extends Actor> {
  /**
   * Returns the instance's public key. If `repositoryId` is given, the policy is asked whether the actor may see the
   * repository; the key does not depend on the repository.
   * @throws ForgeError `NO_SIGNING_KEY`, `SIGNING_KEY_FORMAT_MISMATCH` (in which case the key is not read),
   * `SIGNING_KEY_UNREADABLE`, `REPOSITORY_NOT_FOUND`
   */
  publicKey(
    actor: Caller<A>,
    request: { readonly format: SigningKeyFormat; readonly repositoryId?: IdInput | undefined },
    options?: CallOptions,
  ): Promise<PublicKey>
}

/** Creates the signing-key service of a scope. */
export function signingKeyService(scope: Scope): MaybeAsync<SigningKeyService<Actor>> {
  const { environment, mayWait } = scope
  const { signingKey, keyExpiry, logger } = environment
  return {
    publicKey: method(scope, toKeyRequest, function* publicKey(call, { format }) {
      if (!isFormat(format)) throw new TypeError("request.format must be 'openpgp' or 'ssh'")
      const source = publishedKey(signingKey, signingKey?.servesBoth === true ? signingKey.format : format)
      const answer = source.publicKey({
        format,
        logger,
        mayWait,
        /** Read when it is needed, as that of a call is. */
        get signal() {
          return call.signal
        },
      })
      const key = yield* portAnswer(call, answer)
      checkKey(key)
      keyExpiry.check(key, environment)
      return publishedKey(key, format) // a source may return a key of another format than its own
    }),
  }
}

function toKeyRequest(request: { readonly format: SigningKeyFormat; readonly repositoryId?: IdInput | undefined }) {
  needObject(request, 'request', "{ format: 'ssh' }")
  const { format, repositoryId: id } = request
  const repositoryId = id === undefined ? undefined : toId(id, 'request.repositoryId')
  const access = repositoryId === undefined ? undefined : ({ action: 'signing-keys.read', repositoryId } as const)
  return { access, format }
}

/** Checks a key, because a JavaScript host may return any value. */
function checkKey(key: PublicKey): void {
  const { format, text, etag } = key ?? {}
  if (isFormat(format) && isFilled(text) && isFilled(etag)) return
  throw new TypeError("signingKey.publicKey must return { format: 'openpgp' or 'ssh', text, etag }")
}

function isFormat(value: unknown): boolean {
  return value === 'openpgp' || value === 'ssh'
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/**
 * Checks that a key exists and has the requested format, without reading the key.
 *
 * @param published - the instance's key, if it has one
 * @param asked - the requested format
 * @returns `published`
 * @throws ForgeError `NO_SIGNING_KEY`, `SIGNING_KEY_FORMAT_MISMATCH`. Source: docs/behaviour.md, Signing keys
 */
export function publishedKey<K extends { readonly format: SigningKeyFormat }>(
  published: K | undefined,
  asked: SigningKeyFormat,
): K {
  if (published === undefined) throw new ForgeError('NO_SIGNING_KEY', 'no signing key')

  if (published.format === asked) return published
  throw otherFormat(published.format)
}
