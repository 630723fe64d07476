import { setTimeout as delay } from 'node:timers/promises'
import type { Logger, SigningKeyContext, SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { after } from '../schema/sync-or-async.ts'

/** Where a key is that may change. */
export interface KeyPlace {
  /** For the log: `the key file is /etc/forge/key.asc`. */
  readonly name: string
  /** Reads whether the key may have changed, without reading the key. @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  state(): Promise<PlaceState>
  /** @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  read(): Promise<PublicKey>
}

/** Distinguishes one state of a place from another. */
export interface PlaceState {
  readonly stamp: string
  /** When it last changed, by the clock of its file system, in milliseconds since 1970. */
  readonly changedAt: number
}

/** From one look at the state to the next. */
const LOOK_EVERY_MS = 250
/** How long a request waits for a look. A file system that is slower is looked at meanwhile. */
const MAX_WAIT_MS = 200
/** Whoever writes a file does not pause longer. */
const SETTLE_MS = 100
/** How long the last good key is served while the file cannot be read: it may be in the middle of being written. */
const GRACE_MS = 2000

/** The coarsest clock of a file system in use (FAT): two changes within it can look like one. */
const COARSEST_STAMP_MS = 2000

interface Failure {
  readonly error: unknown
  readonly since: number
  /** Whether the key is no longer served, which was logged. */
  isLogged: boolean
}

/** A key that may change. Requests look at its state, and it is read again only if that has changed. */
class WatchedKey implements SigningKeySource {
  readonly #place: KeyPlace
  #key: PublicKey
  #stamp: string
  #failure: Failure | undefined
  #lookedAt = performance.now()
  #look: Promise<void> | undefined

  constructor(place: KeyPlace, key: PublicKey, stamp: string) {
    this.#place = place
    this.#key = key
    this.#stamp = stamp
  }

  /** While the key cannot be read, the last known format. */
  get format(): SigningKeyFormat {
    return this.#key.format
  }

  /** @throws ForgeError `SIGNING_KEY_UNREADABLE`; its `cause` names the path, its message does not */
  publicKey(context: SigningKeyContext = {}): MaybePromise<PublicKey> {
    return after(this.select(this.format, context), (source) => source.publicKey())
  }

  select(_format: SigningKeyFormat, { logger, mayWait }: SigningKeyContext): MaybePromise<SigningKeySource> {
    const now = performance.now()
    if (this.#look === undefined && now - this.#lookedAt >= LOOK_EVERY_MS) {
      this.#lookedAt = now
      this.#look = this.#lookAgain(logger)
    }
    const left = this.#lookedAt + MAX_WAIT_MS - now
    if (this.#look === undefined || left <= 0 || mayWait === false) return this.#served(logger)
    return Promise.race([this.#look, delay(left, undefined, { ref: false })]).then(() => this.#served(logger))
  }

  #served(logger: Logger | undefined): SigningKeySource {
    const [key, failure] = [this.#key, this.#failure]
    const { format } = key
    if (failure === undefined || performance.now() - failure.since < GRACE_MS) return { format, publicKey: () => key }

    const { error, isLogged } = failure
    if (!isLogged) logger?.error('the signing key has become unreadable', { error })
    failure.isLogged ||= logger !== undefined
    return {
      format,
      publicKey: () => {
        throw error
      },
    }
  }

  async #lookAgain(logger: Logger | undefined): Promise<void> {
    const known = this.#stamp
    this.#stamp = '' // read again next time, unless this look comes to an end
    try {
      const { stamp } = await this.#place.state()
      if (stamp === known) {
        this.#stamp = known
        return
      }
      await delay(SETTLE_MS)
      const [outcome] = await Promise.allSettled([this.#place.read()])
      if ((await this.#place.state()).stamp !== stamp) {
        if (this.#failure?.isLogged === false) this.#failure = undefined // being written: it may be half of a key
        return
      }
      this.#stamp = stamp
      if (outcome.status === 'rejected') throw outcome.reason
      this.#succeeded(outcome.value, logger)
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#lookedAt = performance.now()
      this.#look = undefined
    }
  }

  #succeeded(key: PublicKey, logger: Logger | undefined): void {
    if (this.#failure?.isLogged) logger?.warn('the signing key can be read again', { place: this.#place.name })
    this.#failure = undefined
    this.#key = key
  }

  #failed(error: unknown): void {
    const { since = performance.now(), isLogged = false } = this.#failure ?? {}
    this.#failure = { error: naming(this.#place, error), since, isLogged }
  }
}

/** The error of a place has its name in its cause: messages reach callers. */
function naming({ name }: KeyPlace, error: unknown): unknown {
  if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) return error
  const cause = new Error(name, { cause: error.cause })
  return new ForgeError('SIGNING_KEY_UNREADABLE', error.message, undefined, { cause })
}

/**
 * Watches a key.
 *
 * @param state - the state of the place before the key was read: what changed meanwhile is read again
 */
export function watchKey(place: KeyPlace, key: PublicKey, { stamp, changedAt }: PlaceState): SigningKeySource {
  return new WatchedKey(place, key, Date.now() - changedAt > COARSEST_STAMP_MS ? stamp : '')
}
