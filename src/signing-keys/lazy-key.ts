import { createHash } from 'node:crypto'
import type { CallOptions, SigningKeySource } from '../core/ports.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { isPromise, runMaybeAsync, wait } from '../schema/sync-or-async.ts'

/** Waits for a promise that several callers share. If the signal aborts first, rejects with `signal.reason`. */
function unlessAborted<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared

  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    const stop = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort, { once: true })
    shared.then(resolve, reject).finally(stop)
  })
}

/**
 * A key that is parsed once, when it is first requested, however many callers request it. Afterwards it answers
 * synchronously and releases the material that it was parsed from, which may be private.
 */
export class LazyKey implements SigningKeySource {
  readonly format: SigningKeyFormat
  #answer: (options?: CallOptions) => MaybePromise<PublicKey>

  /**
   * @param format - the format of the key
   * @param readText - returns the public text
   */
  constructor(format: SigningKeyFormat, readText: () => MaybePromise<string>) {
    this.format = format
    this.#answer = (options) => this.#wait(() => this.#parse(readText), options)
  }

  /**
   * The signal counts until the key is parsed. It is not read afterwards: that of an HTTP request is created when it is
   * read.
   *
   * @throws ForgeError `SIGNING_KEY_UNREADABLE`, on every call, without parsing the key again
   */
  publicKey(options?: CallOptions): MaybePromise<PublicKey> {
    return this.#answer(options)
  }

  #wait(parse: () => MaybePromise<PublicKey>, options: CallOptions | undefined): MaybePromise<PublicKey> {
    options?.signal?.throwIfAborted()
    const answer = parse()
    return isPromise(answer) ? unlessAborted(answer, options?.signal) : answer
  }

  #parse(readText: () => MaybePromise<string>): MaybePromise<PublicKey> {
    const parsing = runMaybeAsync(this.#settle(readText))
    if (isPromise(parsing)) this.#answer = (options) => this.#wait(() => parsing, options)
    return parsing
  }

  *#settle(readText: () => MaybePromise<string>): SyncOrAsync<PublicKey> {
    try {
      const key = toPublicKey(this.format, yield* wait(readText()))
      this.#answer = () => key
      return key
    } catch (error) {
      this.#answer = () => {
        throw error
      }
      throw error
    }
  }
}

function toPublicKey(format: SigningKeyFormat, text: string): PublicKey {
  return { format, text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` }
}
