import { OwnSockets } from '../server/sockets.ts'
import { ErrorListeners, isUnheard } from './error-listeners.ts'
import type { OwnPool } from './load-pg.ts'
import { openPool } from './load-pg.ts'
import type { PgPool } from './pg-pool.ts'

/** The source of our connections: a pool that is opened for a URL, or the host's pool. */
export class PoolSource {
  /** The listeners of the pool and its clients. */
  readonly errorListeners: ErrorListeners = new ErrorListeners()
  readonly #urlOrPool: string | PgPool
  readonly #stopHearing = new Set<() => void>()
  readonly #sockets = new OwnSockets()
  #own: OwnPool | undefined

  constructor(urlOrPool: string | PgPool) {
    this.#urlOrPool = urlOrPool
  }

  /**
   * Returns the pool. @throws ForgeError `STORAGE_UNAVAILABLE` if pg is not installed; TypeError for a URL that it
   * cannot read
   */
  get pool(): PgPool {
    const pool = this.#opened()
    // Checked every time: another storage on the host's pool may have listened so far, and may be closed now.
    if (isUnheard(pool)) this.#stopHearing.add(this.errorListeners.listen(pool))
    this.#stopHearing.add(this.errorListeners.listenOnAcquire(pool))
    return pool
  }

  /** Whether the pool is the host's. The host may have left anything on its clients. */
  get isHosts(): boolean {
    return typeof this.#urlOrPool !== 'string'
  }

  /** Ends the pool that the storage opened. Removes the listeners from the host's pool. */
  async close(): Promise<void> {
    // The last connections end after this, and may still be lost: our own pool keeps its listeners.
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

/** Returns the socket of a client, if its driver has one. */
function socketOf(client: unknown): unknown {
  if (typeof client !== 'object' || client === null || !('connection' in client)) return undefined
  const { connection } = client
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}
