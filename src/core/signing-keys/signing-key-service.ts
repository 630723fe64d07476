import { isObject, need, needObject } from '../../schema/arguments.ts'
import { ForgeError } from '../../schema/errors.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { PublicKey, SigningKeyFormat } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import { authorize, refuseAborted } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { portAnswerOf, portContext } from '../call.ts'
import type { Environment } from '../environment.ts'
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

/** The methods of the signing-key service. Each runs one call. */
export class SigningKeyServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  publicKey(
    call: Call<A, Tx>,
    request: { readonly format: SigningKeyFormat; readonly repositoryId?: IdInput | undefined },
  ): MaybePromise<PublicKey> {
    refuseAborted(call)
    needObject(request, 'request', "{ format: 'ssh' }")
    if (request.repositoryId === undefined) return this.#read(call, request)

    const repositoryId = toId(request.repositoryId, 'request.repositoryId')
    const authorized = authorize(this.#environment, call, { action: 'signing-keys.read', repositoryId })
    return after(authorized, () => this.#read(call, request))
  }

  #read(call: Call<A, Tx>, request: { readonly format: SigningKeyFormat }): MaybePromise<PublicKey> {
    const source = publishedKey(this.#environment.signingKey, request.format)
    return after(portAnswerOf(call, source.publicKey(portContext(call, call.actor))), (key) => {
      checkKey(key)
      return publishedKey(key, request.format) // the key file may have changed its format meanwhile
    })
  }
}

/** Checks a key, because a JavaScript host may return any value. */
function checkKey(key: PublicKey): void {
  const { format, text, etag } = key ?? {}
  const isKey = (format === 'openpgp' || format === 'ssh') && isFilled(text) && isFilled(etag)
  if (!isKey) throw new TypeError("signingKey.publicKey must return { format: 'openpgp' or 'ssh', text, etag }")
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
