import { hearErrors, hearGivenClients, hearsGivenClients, isUnheard } from './error-listeners.ts'
import type { OwnPool } from './load-pg.ts'
import { openPool } from './load-pg.ts'
import type { PgPool } from './pg-pool.ts'

/** Where connections of our own come from: a pool that is opened for a URL, or the host's. */
export class PoolSource {
  readonly #urlOrPool: string | PgPool
  readonly #stopHearing: (() => void)[] = []
  #own: OwnPool | undefined

  constructor(urlOrPool: string | PgPool) {
    this.#urlOrPool = urlOrPool
  }

  /** @throws ForgeError `STORAGE_UNAVAILABLE` when there is no pg; TypeError for a URL that it cannot read */
  get pool(): PgPool {
    const pool = this.#opened()
    // asked again and again: another storage on the host's pool may have heard for us, and is closed now
    if (isUnheard(pool)) this.#stopHearing.push(hearErrors(pool))
    if (!hearsGivenClients(pool)) this.#stopHearing.push(hearGivenClients(pool))
    return pool
  }

  /** Ends the pool that we opened; on the host's, nothing of ours is left. */
  async close(): Promise<void> {
    // the last connections end behind this, and may still be lost: our own pool goes with its listeners
    if (this.#own !== undefined) return this.#own.end()

    for (const stop of this.#stopHearing.splice(0)) stop()
  }

  #opened(): PgPool {
    if (typeof this.#urlOrPool !== 'string') return this.#urlOrPool

    this.#own ??= openPool(this.#urlOrPool)
    return this.#own
  }
}
