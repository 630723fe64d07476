import { setTimeout as delay } from 'node:timers/promises'
import type { Logger, SigningKeyContext, SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { after } from '../schema/sync-or-async.ts'

/**
 * Looks at the place of a key that may change.
 *
 * @returns a stamp that distinguishes one state of the place from another, and what reads the key of this state
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`, and so does `read`
 */
export type Look = () => Promise<{ readonly stamp: string; readonly read: () => Promise<PublicKey> }>

/** From one look to the next. */
const LOOK_EVERY_MS = 250
/** How long a request waits for a look. A file system that is slower is looked at meanwhile. */
const MAX_WAIT_MS = 200
/** A program that writes a file does not pause longer. */
const SETTLE_MS = 100
/** How long the last good key is served while the file cannot be read: it may be in the middle of being written. */
const GRACE_MS = 2000

/** A key that may change. Requests look at its place, and it is read again only if that has changed. */
class WatchedKey implements SigningKeySource {
  readonly #place: string
  readonly #look: Look
  #key: PublicKey
  #stamp: string
  #failure: { readonly error: unknown; readonly since: number } | undefined
  /** Whether the failure was logged, because the last good key is no longer served. */
  #isLogged = false
  #lookedAt = performance.now()
  #looking: Promise<void> | undefined

  constructor(place: string, look: Look, key: PublicKey, stamp: string) {
    this.#place = place
    this.#look = look
    this.#key = key
    this.#stamp = stamp
  }

  /** While the key cannot be read, the last known format. */
  get format(): SigningKeyFormat {
    return this.#key.format
  }

  /** @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  publicKey(context: SigningKeyContext = {}): MaybePromise<PublicKey> {
    return after(this.select(this.format, context), (source) => source.publicKey())
  }

  select(_format: SigningKeyFormat, { logger, mayWait }: SigningKeyContext): MaybePromise<SigningKeySource> {
    const now = performance.now()
    if (this.#looking === undefined && now - this.#lookedAt >= LOOK_EVERY_MS) {
      this.#lookedAt = now
      this.#looking = this.#lookAgain(logger)
    }
    const left = this.#lookedAt + MAX_WAIT_MS - now
    if (this.#looking === undefined || left <= 0 || mayWait === false) return this.#served(logger)
    return Promise.race([this.#looking, delay(left, undefined, { ref: false })]).then(() => this.#served(logger))
  }

  #served(logger: Logger | undefined): SigningKeySource {
    const [key, failure] = [this.#key, this.#failure]
    const isOver = failure !== undefined && performance.now() - failure.since >= GRACE_MS
    if (isOver && !this.#isLogged) logger?.error('the signing key has become unreadable', { error: failure.error })
    this.#isLogged ||= isOver && logger !== undefined
    return {
      format: key.format,
      publicKey() {
        if (isOver) throw failure.error
        return key
      },
    }
  }

  async #lookAgain(logger: Logger | undefined): Promise<void> {
    const known = this.#stamp
    this.#stamp = '' // read again next time, unless this look comes to an end
    try {
      const seen = await this.#look()
      if (seen.stamp === known) {
        this.#stamp = known
        return
      }
      await delay(SETTLE_MS)
      const { stamp, read } = await this.#look()
      if (stamp !== seen.stamp) return // it is being written

      this.#stamp = stamp
      this.#key = await read()
      if (this.#isLogged) logger?.warn('the signing key can be read again', { place: this.#place })
      this.#failure = undefined
      this.#isLogged = false
    } catch (error) {
      this.#failure = { error: named(this.#place, error), since: this.#failure?.since ?? performance.now() }
    } finally {
      this.#lookedAt = performance.now()
      this.#looking = undefined
    }
  }
}

/** The error of a place has its name in its cause: messages reach callers. */
function named(place: string, error: unknown): unknown {
  if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) return error
  const cause = new Error(place, { cause: error.cause })
  return new ForgeError('SIGNING_KEY_UNREADABLE', error.message, undefined, { cause })
}

/**
 * Reads a key, and watches it.
 *
 * @param place - for the log: `the key file is /etc/forge/key.asc`
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`; its `cause` names the place, its message does not
 */
export async function watchKey(place: string, look: Look): Promise<SigningKeySource> {
  try {
    const { stamp, read } = await look()
    return new WatchedKey(place, look, await read(), stamp)
  } catch (error) {
    throw named(place, error)
  }
}
