import { whenGiven } from '../server/when-given.ts'
import type { ConnectionFacts } from './connection-facts.ts'
import { factsOf, refuseOtherServers, refuseUnfit } from './connection-facts.ts'
import { saysLost, translateError } from './driver-errors.ts'
import type { MysqlConnection, MysqlPoolConnection } from './mysql-pool.ts'
import { physical } from './mysql-pool.ts'
import type { PoolSource } from './pool-source.ts'

/** A connection that we have, until it is given back. */
export interface Lent<C extends MysqlConnection> {
  readonly connection: C
  readonly facts: ConnectionFacts
  /** Has it closed in place of given back: nobody knows in what state it is. */
  readonly spoil: () => void
}

/** Takes connections out of the pool, and looks at each the first time. */
export class Checkout<C extends MysqlConnection> {
  readonly #source: PoolSource<C>
  readonly #needsUuid: boolean
  readonly #heard = new WeakSet<object>()
  readonly #known = new WeakMap<object, ConnectionFacts>()
  #database: string | undefined

  /** @param needsUuid - whether ids are kept as `uuid`, which older servers do not know */
  constructor(source: PoolSource<C>, needsUuid: boolean) {
    this.#source = source
    this.#needsUuid = needsUuid
  }

  /** The database of the pool's connections; undefined before the first. */
  get database(): string | undefined {
    return this.#database
  }

  /**
   * Runs work on a connection, and gives that back.
   * @throws ForgeError `STORAGE_UNAVAILABLE` when there is none within five seconds; TypeError when it is not fit for use
   */
  async on<T>(work: (lent: Lent<C>) => Promise<T>): Promise<T> {
    let spoilt = false
    const spoil = (): void => {
      spoilt = true
    }
    const give = async (use: (connection: C & MysqlPoolConnection) => Promise<T>): Promise<T> => {
      const connection = await this.#connect()
      try {
        return await use(connection)
      } finally {
        if (spoilt) connection.destroy()
        else connection.release()
      }
    }
    return whenGiven(give, async (connection) =>
      work({ connection, facts: await this.#look(connection, spoil), spoil }),
    )
  }

  async #connect(): Promise<C & MysqlPoolConnection> {
    try {
      return await this.#source.pool.getConnection()
    } catch (error) {
      throw translateError(error, 'call')
    }
  }

  async #look(connection: C & MysqlPoolConnection, spoil: () => void): Promise<ConnectionFacts> {
    const key = physical(connection)
    const known = this.#known.get(key)
    if (known !== undefined) return known

    this.#hear(key, connection)
    try {
      const facts = await this.#ask(connection)
      this.#known.set(key, facts)
      return facts
    } catch (error) {
      if (saysLost(error)) spoil()
      throw translateError(error, 'call')
    }
  }

  async #ask(connection: MysqlConnection): Promise<ConnectionFacts> {
    await refuseOtherServers(connection, this.#needsUuid)
    const facts = await factsOf(connection)
    this.#database = refuseUnfit(facts)
    return facts
  }

  /** Two errors on one connection, the pool hearing the first alone, would end the process. */
  #hear(key: object, connection: MysqlPoolConnection): void {
    if (!this.#heard.has(key)) connection.on('error', ignore)
    this.#heard.add(key)
  }
}

/** Who has work on the connection is told by that. */
function ignore(): void {}
