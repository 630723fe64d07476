import { OwnSockets } from '../server/sockets.ts'
import { openPool } from './load-mysql2.ts'
import type { MysqlConnection, MysqlPool, OwnPool } from './mysql-pool.ts'

/** The source of our connections: a pool that is opened for a URL, or the host's pool. */
export class PoolSource<C extends MysqlConnection> {
  readonly #urlOrPool: string | MysqlPool<C>
  readonly #sockets = new OwnSockets()
  #own: OwnPool<C> | undefined

  constructor(urlOrPool: string | MysqlPool<C>) {
    this.#urlOrPool = urlOrPool
  }

  /**
   * Returns the pool. @throws ForgeError `STORAGE_UNAVAILABLE` if mysql2 is not installed; TypeError for a URL that it
   * cannot read
   */
  get pool(): MysqlPool<C> {
    if (typeof this.#urlOrPool !== 'string') return this.#urlOrPool

    this.#own ??= this.#open(this.#urlOrPool)
    return this.#own
  }

  /** Whether the pool is the host's. The host may do anything on its connections between two uses. */
  get isHosts(): boolean {
    return typeof this.#urlOrPool !== 'string'
  }

  /** Ends the pool that the storage opened. */
  async close(): Promise<void> {
    try {
      await this.#own?.end()
    } catch {
      // The server is gone and has already closed the connections.
    }
    this.#sockets.destroyLater()
  }

  #open(url: string): OwnPool<C> {
    const pool = openPool<C>(url)
    pool.on('connection', (connection) => this.#sockets.add(socketOf(connection)))
    return pool
  }
}

function socketOf(connection: unknown): unknown {
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}
