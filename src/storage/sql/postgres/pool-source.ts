import { OwnSockets } from '../server/sockets.ts'
import { ErrorListeners, isUnheard } from './error-listeners.ts'
import type { OwnPool } from './load-pg.ts'
import { openPool } from './load-pg.ts'
import type { PgPool } from './pg-pool.ts'

/** Where connections of our own come from: a pool that is opened for a URL, or the host's. */
export class PoolSource {
  /** Those of the pool and its clients. */
  readonly errorListeners: ErrorListeners = new ErrorListeners()
  readonly #urlOrPool: string | PgPool
  readonly #stopHearing = new Set<() => void>()
  readonly #sockets = new OwnSockets()
  #own: OwnPool | undefined

  constructor(urlOrPool: string | PgPool) {
    this.#urlOrPool = urlOrPool
  }

  /** @throws ForgeError `STORAGE_UNAVAILABLE` when there is no pg; TypeError for a URL that it cannot read */
  get pool(): PgPool {
    const pool = this.#opened()
    // asked again and again: another storage on the host's pool may have heard for us, and is closed now
    if (isUnheard(pool)) this.#stopHearing.add(this.errorListeners.listen(pool))
    this.#stopHearing.add(this.errorListeners.listenOnAcquire(pool))
    return pool
  }

  /** Whether the pool is the host's, who may have left anything on its clients. */
  get isHosts(): boolean {
    return typeof this.#urlOrPool !== 'string'
  }

  /** Ends the pool that we opened; on the host's, nothing of ours is left. */
  async close(): Promise<void> {
    // the last connections end behind this, and may still be lost: our own pool goes with its listeners
    if (this.#own !== undefined) {
      await this.#own.end()
      this.#sockets.destroyLater()
      return
    }
    for (const stop of this.#stopHearing) stop()
    this.#stopHearing.clear()
  }

  #opened(): PgPool {
    if (typeof this.#urlOrPool !== 'string') return this.#urlOrPool

    this.#own ??= this.#open(this.#urlOrPool)
    return this.#own
  }

  #open(url: string): OwnPool {
    const pool = openPool(url)
    pool.on('connect', (client) => this.#sockets.add(socketOf(client)))
    return pool
  }
}

/** The socket of a client, where its driver has one. */
function socketOf(client: unknown): unknown {
  if (typeof client !== 'object' || client === null || !('connection' in client)) return undefined
  const { connection } = client
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}
